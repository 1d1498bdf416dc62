// A place in a walk over a table's entries, kept by the caller between calls.
#pragma once

#include <cstdint>

namespace roost {

// The slot that a walk goes on from. It is a position, not an entry: whatever is erased, refreshed
// or expires between two steps, every entry that stays where it is gets visited exactly once. Only
// an insert that moves other entries (TableStats::kicks grows) may move one past the cursor, or in
// front of it again; a walk during which it did not grow was complete.
struct Cursor {
  uint64_t next_slot = 0;
};

// How far a walk goes in one step: so many buckets, occupied or not, and so many entries. The
// buckets bound its time, the entries what its caller has room for.
struct ScanBudget {
  uint64_t buckets = 0;
  uint64_t entries = UINT64_MAX;

  // Any number of entries.
  constexpr ScanBudget(uint64_t bucket_count, uint64_t entry_count = UINT64_MAX)
      : buckets(bucket_count), entries(entry_count) {}
};

}  // namespace roost
