// tbb::concurrent_hash_map: an array of chains, one node and one lock an entry, one lock a chain.
// One thread uses it here and takes its locks all the same. Fills to 1, then doubles, and brings
// over a chain when it is next asked for.
#pragma once

#include <tbb/concurrent_hash_map.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

template <class Key>
struct TbbHash {
  [[nodiscard]] size_t hash(const Key& key) const { return hasher(key); }
  [[nodiscard]] bool equal(const Key& a, const Key& b) const { return a == b; }

  KeyHash<Key> hasher{};
};

struct TbbConcurrentHashMap : StandardMap {
  static constexpr std::string_view kName = "tbb_concurrent_hash_map";
  template <class Key, class Value>
  using Map = tbb::concurrent_hash_map<Key, Value, TbbHash<Key>, MapAllocator<Key, Value>>;

  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    return std::make_unique<Map>(entry_count, allocator);
  }
  static void insert(auto& map, const auto& key, const auto& value) {
    typename std::remove_reference_t<decltype(map)>::accessor place;
    map.insert(place, key);
    place->second = value;
  }
  // The value's lock is let go before the caller copies: no other thread is there.
  static const auto* find(const auto& map, const auto& key) {
    using Map = std::remove_cvref_t<decltype(map)>;
    typename Map::const_accessor found;
    const typename Map::mapped_type* value = map.find(found, key) ? &found->second : nullptr;
    return value;
  }
  // Clearing gives the table's memory back, so room is made anew.
  static void clear(auto& map, uint64_t entry_count) {
    map.clear();
    map.rehash(entry_count);
  }
  // A line of the chains' heads with their locks, then a node's, which has a lock and a link.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() * 2 * sizeof(void*),
            .second_bytes = map.size() * (sizeof(*map.begin()) + 2 * sizeof(void*))};
  }
};

}  // namespace roost::lab
