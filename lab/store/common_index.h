// A worker's index over a table that all workers share: its connections are its own, and so are
// their indices and records. Only the table is common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lab/store/index.h"
#include "lab/store/numbered_keys.h"
#include "lab/store/plain_table.h"

namespace roost::lab {

template <class KeyT>
class CommonIndex final : public Index<KeyT> {
 public:
  using Key = KeyT;

  CommonIndex(std::unique_ptr<SmallValues<Key>> view, NumberedKeys<Key> numbers)
      : view_(std::move(view)), numbers_(std::move(numbers)) {}

  size_t lookup(std::span<const Key> keys, RecordArray records, std::span<uint32_t> indices,
                HitWords hits) override {
    std::array<const Key*, kIndexLanesMax> pointers;
    for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
    const size_t found = view_->lookup({pointers.data(), keys.size()}, indices, hits);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (hits.test(lane)) ask_for_record(records, indices[lane]);
    }
    return found;
  }
  std::optional<uint32_t> insert(const Key& key) override {
    if (const std::optional<uint32_t> held = find(key)) return held;
    if (!numbers_.has_free() || !view_->insert(key, numbers_.next())) return {};
    const uint32_t index = numbers_.next();
    numbers_.take(key);
    return index;
  }
  std::optional<uint32_t> erase(const Key& key) override {
    const std::optional<uint32_t> held = find(key);
    if (!held) return {};
    view_->erase(key);
    numbers_.give_back(*held);
    return held;
  }

  void ask_for_key(uint32_t index) const override { numbers_.ask_for(index); }
  [[nodiscard]] Key key_at(uint32_t index) const override { return numbers_.key_at(index); }
  [[nodiscard]] uint64_t index_count() const override { return numbers_.count(); }
  [[nodiscard]] uint64_t size() const override { return numbers_.taken(); }
  [[nodiscard]] uint64_t memory_bytes() const override {
    return view_->memory_bytes() + numbers_.memory_bytes();
  }

 private:
  std::optional<uint32_t> find(const Key& key) {
    const Key* pointer = &key;
    uint32_t index = 0;
    HitArray<1> hits;
    if (view_->lookup({&pointer, 1}, std::span(&index, 1), hits) == 0) return {};
    return index;
  }

  std::unique_ptr<SmallValues<Key>> view_;
  NumberedKeys<Key> numbers_;
};

}  // namespace roost::lab
