// libcuckoo::cuckoohash_map: the concurrent cuckoo table, four slots a bucket, a lock for every few
// buckets. One thread uses it here and takes its locks all the same. It moves entries until it
// finds no way, then doubles; sizes are powers of two.
#pragma once

#include <cstdint>
#include <functional>
#include <libcuckoo/cuckoohash_map.hh>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct LibcuckooMap : StandardMap {
  static constexpr std::string_view kName = "libcuckoo";
  template <class Key, class Value>
  using Map = libcuckoo::cuckoohash_map<Key, Value, KeyHash<Key>, std::equal_to<Key>,
                                        MapAllocator<Key, Value>>;

  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    using MapKey = typename Map::key_type;
    return std::make_unique<Map>(entry_count, KeyHash<MapKey>(), std::equal_to<MapKey>(),
                                 allocator);
  }
  static const auto* find(const auto& map, const auto& key) {
    const typename std::remove_cvref_t<decltype(map)>::mapped_type* value = nullptr;
    map.find_fn(key, [&value](const auto& found) { value = &found; });
    return value;
  }
  static bool erase(auto& map, const auto& key) { return map.erase(key); }
  // A line of the slots; the locks and partial keys beside them are left out.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes =
                map.capacity() * sizeof(typename std::remove_cvref_t<decltype(map)>::value_type),
            .second_bytes = 0};
  }
};

}  // namespace roost::lab
