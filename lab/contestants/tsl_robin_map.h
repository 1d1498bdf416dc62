// tsl::robin_map: linear probing, where the entry that is further from home keeps the place. Fills
// to 1/2, then doubles; sizes are powers of two.
#pragma once

#include <tsl/robin_map.h>
#include <functional>
#include <string_view>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct TslRobinMap : StandardMap {
  static constexpr std::string_view kName = "tsl_robin_map";
  template <class Key, class Value>
  using Map = tsl::robin_map<Key, Value, KeyHash<Key>, std::equal_to<Key>,
                             ArenaAllocator<std::pair<Key, Value>>>;
  // A line of the slots: an entry and 8 bytes of distance and hash.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() * (sizeof(*map.begin()) + 8), .second_bytes = 0};
  }
};

struct TslRobinMap95 : FilledTo95<TslRobinMap> {
  static constexpr std::string_view kName = "tsl_robin_map_95";
};

}  // namespace roost::lab
