// tsl::hopscotch_map: every entry within 62 slots of its home, which has a bit for each. Fills to
// 9/10, then doubles; sizes are powers of two.
#pragma once

#include <tsl/hopscotch_map.h>
#include <functional>
#include <string_view>
#include <utility>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct TslHopscotchMap : StandardMap {
  static constexpr std::string_view kName = "tsl_hopscotch_map";
  template <class Key, class Value>
  using Map = tsl::hopscotch_map<Key, Value, KeyHash<Key>, std::equal_to<Key>,
                                 ArenaAllocator<std::pair<Key, Value>>>;
  // A line of the slots: an entry and 8 bytes of neighbourhood.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() * (sizeof(*map.begin()) + 8), .second_bytes = 0};
  }
};

struct TslHopscotchMap95 : FilledTo95<TslHopscotchMap> {
  static constexpr std::string_view kName = "tsl_hopscotch_map_95";
};

}  // namespace roost::lab
