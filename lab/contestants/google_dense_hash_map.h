// google::dense_hash_map: quadratic probing over whole entries, where a key that is never used
// stands for "empty". Fills to 1/2, then doubles; sizes are powers of two.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <sparsehash/dense_hash_map>
#include <string_view>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

// A key of equal bytes: neither inserted nor, but for a chance of about one in 2^100, asked for.
template <class Key>
Key reserved_key(int byte) {
  Key key;
  std::memset(&key, byte, sizeof(key));
  return key;
}

template <template <class> class Hash>
struct GoogleDenseMap : StandardMap {
  static constexpr std::string_view kName = "google_dense_hash_map";
  template <class Key, class Value>
  using Map =
      google::dense_hash_map<Key, Value, Hash<Key>, std::equal_to<Key>, MapAllocator<Key, Value>>;

  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    using MapKey = typename Map::key_type;
    auto map =
        std::make_unique<Map>(entry_count, Hash<MapKey>(), std::equal_to<MapKey>(), allocator);
    map->set_empty_key(reserved_key<MapKey>(0xFF));
    map->set_deleted_key(reserved_key<MapKey>(0xFE));
    return map;
  }
  static void insert(auto& map, const auto& key, const auto& value) { map[key] = value; }
  static void clear(auto& map, uint64_t /*entry_count*/) { map.clear_no_resize(); }
  // A line of the slots.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() * sizeof(*map.begin()), .second_bytes = 0};
  }
};
using GoogleDenseHashMap = GoogleDenseMap<KeyHash>;

}  // namespace roost::lab
