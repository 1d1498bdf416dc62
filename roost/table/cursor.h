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

}  // namespace roost
