// std::unordered_map: an array of chains, one node an entry. Fills to 1, then about doubles; sizes
// are primes.
#pragma once

#include <functional>
#include <string_view>
#include <unordered_map>

#include "lab/contestants/map_contestant.h"

namespace roost::lab {

struct StdUnorderedMap : StandardMap {
  static constexpr std::string_view kName = "std_unordered_map";
  template <class Key, class Value>
  using Map =
      std::unordered_map<Key, Value, KeyHash<Key>, std::equal_to<Key>, MapAllocator<Key, Value>>;
  // A line of the chains' heads, then a node's.
  static FewestLines fewest_lines(const auto& map) {
    return {.first_bytes = map.bucket_count() * sizeof(void*),
            .second_bytes = map.size() * (sizeof(*map.begin()) + sizeof(void*))};
  }
};

}  // namespace roost::lab
