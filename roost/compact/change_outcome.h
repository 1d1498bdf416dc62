// What becomes of a change that a value-only table is asked for.
#pragma once

#include <cstdint>

namespace roost::compact {

enum class ChangeOutcome : uint8_t {
  kDone,
  kNotFound,    // of update and erase
  kThere,       // of insert: the key has a value; it stays
  kTooWide,     // the key or the value has more bits than the table's, or the value is reserved
  kBucketFull,  // Parrot: a lookup would look at more than 16 entries of the stash: the model no
                // longer fits
  kNoRoom,      // the image has grown to its limit, or its last level is full: rebuild
};

}  // namespace roost::compact
