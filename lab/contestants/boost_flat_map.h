// boost::unordered_flat_map: open addressing, probed by groups of 15 slots with a byte each. Fills
// to 7/8, then doubles; sizes are powers of two.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <string_view>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct BoostFlatMap : StandardMap {
  static constexpr std::string_view kName = "boost_flat_map";
  template <class Key, class Value>
  using Map = boost::unordered_flat_map<Key, Value, KeyHash<Key>, std::equal_to<Key>,
                                        MapAllocator<Key, Value>>;
  // A line of the 16-byte groups, one for 15 slots, then an entry's.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() / 15 * 16,
            .second_bytes = map.bucket_count() * sizeof(*map.begin())};
  }
};

}  // namespace roost::lab
