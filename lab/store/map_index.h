// A map of one key at a time as an index. `Traits` are those of a contestant
// (contestants/map_contestant.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lab/contestants/arena_memory.h"
#include "lab/contestants/map_contestant.h"
#include "lab/store/index.h"
#include "lab/store/numbered_keys.h"

namespace roost::lab {

template <class Traits, class KeyT>
class MapIndex final : public Index<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<MapIndex>> create(const TableConfig& config) {
    auto numbers = NumberedKeys<Key>::create(config.entries_max, {.pages = config.pages});
    if (!numbers) return numbers.error();
    try {
      return std::unique_ptr<MapIndex>(new MapIndex(std::move(numbers).value()));
    } catch (const std::exception&) {
      return Error{"no memory for " + std::string(Traits::kName) + " of " +
                   std::to_string(config.entries_max) + " entries"};
    }
  }

  size_t lookup(std::span<const Key> keys, RecordArray records, std::span<uint32_t> indices,
                HitWords hits) override {
    uint32_t found = 0;
    hits.clear(keys.size());
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const uint32_t* index = Traits::find(*map_, keys[lane]);
      if (index == nullptr) continue;
      indices[lane] = *index;
      hits.set(lane);
      ask_for_record(records, *index);
      ++found;
    }
    return found;
  }

  // A map that wants to grow and cannot is full.
  std::optional<uint32_t> insert(const Key& key) override {
    if (!numbers_.has_free()) {
      const uint32_t* index = Traits::find(*map_, key);
      return index == nullptr ? std::nullopt : std::optional(*index);
    }
    try {
      const auto [index, is_new] = Traits::find_or_insert(*map_, key, numbers_.next());
      if (is_new) numbers_.take(key);
      return index;
    } catch (const std::exception&) {
      return {};
    }
  }

  std::optional<uint32_t> erase(const Key& key) override {
    if (walk_at_ == key) {  // the walk goes on behind it
      uint32_t passed;
      Traits::walk(*map_, walk_at_, std::span(&passed, 1));
    }
    const std::optional<uint32_t> index = Traits::take(*map_, key);
    if (index) numbers_.give_back(*index);
    return index;
  }

  size_t next_indices(std::span<uint32_t> indices) override {
    return Traits::walk(*map_, walk_at_, indices);
  }
  void ask_for_key(uint32_t index) const override { numbers_.ask_for(index); }
  [[nodiscard]] Key key_at(uint32_t index) const override { return numbers_.key_at(index); }
  [[nodiscard]] uint64_t index_count() const override { return numbers_.count(); }
  [[nodiscard]] uint64_t size() const override { return numbers_.taken(); }
  [[nodiscard]] uint64_t memory_bytes() const override {
    return memory_->bytes() + numbers_.memory_bytes();
  }

 private:
  using Map = typename Traits::template Map<Key, uint32_t>;

  explicit MapIndex(NumberedKeys<Key> numbers)
      : numbers_(std::move(numbers)),
        memory_(std::make_unique<ArenaMemory>(numbers_.page_kind())),
        map_(Traits::template make<Map>(numbers_.count(), MapAllocator<Key, uint32_t>(*memory_))) {}

  NumberedKeys<Key> numbers_;
  std::unique_ptr<ArenaMemory> memory_;
  std::unique_ptr<Map> map_;
  std::optional<Key> walk_at_;  // the entry that a walk comes to next
};

}  // namespace roost::lab
