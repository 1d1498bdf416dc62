// Takes a batch through stages, each of which touches only memory that the one before it asked for.
//
// Groups of 32 lanes follow each other a stage apart, so that a call of several groups overlaps
// them; a call of one group goes through its stages one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "roost/isa/prefetch.h"

namespace roost::lab {

inline constexpr size_t kStagedLanes = 32;

// Calls each stage(first lane, how many, group) for each group; `Group` is what it carries from
// stage to stage.
template <class Group, class... Stage>
[[gnu::always_inline]] inline void run_staged(size_t lane_count, Stage&&... stages) {
  constexpr size_t kStages = sizeof...(Stage);
  std::array<Group, kStages> groups;
  const size_t group_count = (lane_count + kStagedLanes - 1) / kStagedLanes;
  for (size_t turn = 0; turn + 1 < group_count + kStages; ++turn) {
    size_t behind = 0;
    const auto run = [&](auto&& stage) {
      const size_t number = turn - behind++;  // of a group that has not begun: wraps round
      if (number >= group_count) return;
      const size_t first = number * kStagedLanes;
      stage(first, std::min(kStagedLanes, lane_count - first), groups[number % kStages]);
    };
    (run(stages), ...);
  }
}

// Asks for the lines of some bytes, which are no more than two.
[[gnu::always_inline]] inline void prefetch_both(const std::byte* bytes, size_t count) {
  prefetch(PrefetchHint::kT0, bytes);
  prefetch(PrefetchHint::kT0, bytes + count - 1);
}

}  // namespace roost::lab
