// A map of small values, one key at a time. `Traits` are those of a contestant
// (contestants/map_contestant.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "lab/contestants/arena_memory.h"
#include "lab/contestants/map_contestant.h"
#include "lab/store/plain_table.h"
#include "roost/memory/arena.h"

namespace roost::lab {

template <class Traits, class KeyT>
class MapValues final : public SmallValues<KeyT> {
 public:
  using Key = KeyT;

  static Result<std::unique_ptr<MapValues>> create(const TableConfig& config) {
    // The kind of pages that a table of ours would get.
    const uint64_t bytes = (config.entries_max + 1) * (sizeof(Key) + sizeof(uint32_t));
    const Result<Arena> tried = Arena::map(bytes, {.pages = config.pages});
    if (!tried) return tried.error();
    try {
      return std::unique_ptr<MapValues>(
          new MapValues(config.entries_max, tried.value().page_kind()));
    } catch (const std::exception&) {
      return Error{"no memory for " + std::string(Traits::kName) + " of " +
                   std::to_string(config.entries_max) + " entries"};
    }
  }

  size_t lookup(KeyPointers<Key> keys, std::span<uint32_t> out, HitWords hits) override {
    hits.clear(keys.size());
    size_t found = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const uint32_t* value = Traits::find(*map_, *keys[lane]);
      if (value == nullptr) continue;
      out[lane] = *value;
      hits.set(lane);
      ++found;
    }
    return found;
  }
  bool insert(const Key& key, uint32_t value) override {
    try {
      Traits::insert(*map_, key, value);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  bool erase(const Key& key) override { return Traits::erase(*map_, key); }

  [[nodiscard]] uint64_t size() const override { return map_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return memory_->bytes(); }

 private:
  using Map = typename Traits::template Map<Key, uint32_t>;

  MapValues(uint64_t entry_count, PageKind pages)
      : memory_(std::make_unique<ArenaMemory>(pages)),
        map_(Traits::template make<Map>(entry_count, MapAllocator<Key, uint32_t>(*memory_))) {}

  std::unique_ptr<ArenaMemory> memory_;
  std::unique_ptr<Map> map_;
};

}  // namespace roost::lab
