// How a table does. TableStats are gathered while it works, so that reading them costs
// nothing in the table's size; an Occupancy is counted when it is asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/isa/prefetch.h"
#include "roost/table/probe.h"
#include "roost/table/tag_line.h"

namespace roost {

// Kick paths with this many moves and more share the last field of their histogram. Only buckets of
// one or two slots need longer ones.
inline constexpr unsigned kPathLengthFieldMax = 8;

// Moved counts from here up share the last field of the histogram.
inline constexpr unsigned kMovedHistogramMax = 16;

struct TableStats {
  uint64_t capacity = 0;     // slots
  uint64_t size = 0;         // entries held: live ones, and expired ones not yet reclaimed
  double load = 0;           // size / capacity
  uint64_t stash_slots = 0;  // slots of the stash, which the capacity does not count
  uint64_t stashed = 0;      // entries in it

  // Every entry created is held, erased or expired: created == size + erased + expired.
  uint64_t created = 0;
  uint64_t erased = 0;               // by erase and by clear
  uint64_t expired = 0;              // reclaimed after expiry: calls of the eviction callback
  uint64_t expired_overwritten = 0;  // of those, found by an insert that wanted the slot or the key

  uint64_t kicks = 0;     // entries moved to their other bucket
  uint64_t refusals = 0;  // inserts that found no place (kFull)
  // Field n counts the inserts that moved n entries; field 0 those that moved none.
  std::array<uint64_t, kPathLengthFieldMax + 1> path_lengths{};
  // Field n counts the buckets with n keys in their secondary; the last field those with that many
  // and more.
  std::array<uint64_t, kMovedHistogramMax + 1> moved_histogram{};

  // Where lookups prefetch lines to, and how often all hints were tried for that (hint_choice.h).
  PrefetchHint line_hint = PrefetchHint::kT0;
  uint64_t hint_rounds = 0;

  LookupCounts lookups;  // zero unless the table's Probe policy is LookupCounts
};

// Field n counts the buckets that hold n entries, expired ones not yet reclaimed included.
using Occupancy = std::array<uint64_t, kSlotsPerBucket + 1>;

}  // namespace roost
