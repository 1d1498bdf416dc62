// google::sparse_hash_map: quadratic probing over groups of 48 slots, each with a bitmap and an
// array of the entries it holds and no more, made anew at every insert. Fills to 4/5, then doubles;
// sizes are powers of two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <sparsehash/sparse_hash_map>
#include <string_view>

#include "lab/contestants/google_dense_hash_map.h"
#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct GoogleSparseHashMap : StandardMap {
  static constexpr std::string_view kName = "google_sparse_hash_map";
  template <class Key, class Value>
  using Map = google::sparse_hash_map<Key, Value, KeyHash<Key>, std::equal_to<Key>,
                                      MapAllocator<Key, Value>>;

  template <class Map>
  static std::unique_ptr<Map> make(uint64_t entry_count, const auto& allocator) {
    using MapKey = typename Map::key_type;
    auto map =
        std::make_unique<Map>(entry_count, KeyHash<MapKey>(), std::equal_to<MapKey>(), allocator);
    map->set_deleted_key(reserved_key<MapKey>(0xFE));
    return map;
  }
  static void insert(auto& map, const auto& key, const auto& value) { map[key] = value; }
  // Clearing gives the table's memory back, so room is made anew.
  static void clear(auto& map, uint64_t entry_count) {
    map.clear();
    map.resize(entry_count);
  }
  // A line of the 16-byte groups, one for 48 slots, then an entry's.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() / 48 * 16,
            .second_bytes = map.size() * sizeof(*map.begin())};
  }
};

}  // namespace roost::lab
