// What the stages of a batch hand on to each other, a group of lanes at a time, and what follows
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/isa/prefetch.h"
#include "roost/table/slot_mask.h"

namespace roost {

inline constexpr size_t kLanesPerGroup = 32;

// Where entries go when lines go there: past the caches with them, else to the second level.
[[nodiscard]] constexpr PrefetchHint entry_hint(PrefetchHint line_hint) {
  return line_hint == PrefetchHint::kNta ? PrefetchHint::kNta : PrefetchHint::kT1;
}

// What a group carries from stage to stage.
struct LaneGroup {
  size_t lane_count;
  std::array<Hash64, kLanesPerGroup> hashes;
  std::array<const std::byte*, kLanesPerGroup> targets;  // primary line, then candidate entry or
                                                         // secondary line
  LaneMask primary;    // lanes with a candidate in their primary bucket
  LaneMask secondary;  // lanes whose secondary bucket must be looked at
  LaneMask displaced;  // of those, lanes with a candidate there only
  LaneMask stash;      // of those, lanes without, whose key may sit in the stash

  template <class Line>
  void take(size_t lane, Hash64 hash, const Line& primary_line) {
    hashes[lane] = hash;
    targets[lane] = reinterpret_cast<const std::byte*>(&primary_line);
  }
  // The line that is the lane's target.
  template <class Line>
  [[nodiscard]] const Line& line(size_t lane) const {
    return *reinterpret_cast<const Line*>(targets[lane]);
  }
  [[nodiscard]] LaneMask all_lanes() const {
    return LaneMask{static_cast<uint32_t>((uint64_t{1} << lane_count) - 1)};
  }
};

// Nothing follows this batch.
struct NoNextBatch {
  void start() {}
};

// The batch after this one, started while this one's last lines arrive.
template <class Table, class Flight>
struct NextBatch {
  const Table* table;
  Flight* flight;

  void start() { table->start(*flight); }
};

}  // namespace roost
