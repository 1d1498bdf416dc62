// absl::flat_hash_map: open addressing, probed by groups of control bytes. Fills to 7/8, then
// doubles; sizes are powers of two.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <functional>
#include <string_view>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct AbslFlatHashMap : StandardMap {
  static constexpr std::string_view kName = "absl_flat_hash_map";
  template <class Key, class Value>
  using Map =
      absl::flat_hash_map<Key, Value, KeyHash<Key>, std::equal_to<Key>, MapAllocator<Key, Value>>;
  // Clearing gives the table's memory back, so room is made anew.
  static void clear(auto& map, uint64_t entry_count) {
    map.clear();
    map.reserve(entry_count);
  }
  // A line of the control bytes, one a slot, then an entry's.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count(),
            .second_bytes = map.bucket_count() * sizeof(*map.begin())};
  }
};

}  // namespace roost::lab
