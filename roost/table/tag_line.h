// A bucket's line: all that a lookup needs to know of eight slots, in one cache line (CPP-03).
//
//   byte  0        16       32       40    42   43     44     45     56        63
//        +--------+--------+--------+-----+----+------+------+------+-----------+
//        | 8 tags |8 timers| filter |moved|busy|displ.|spared|unused|8 functions|
//        +--------+--------+--------+-----+----+------+------+------+-----------+
//          16 bit   16 bit   64 bit  16    8     8 bit  8 bit          8 bit
//
// An all-zero line is an empty bucket, so fresh memory needs no initialisation.
//
// Other layouts have lines of their own (layout.h), with fields of the same names where they mean
// the same, so that the algorithm is written once.
//
// The filter tells of the keys whose primary bucket this is but which sit elsewhere, in their
// secondary bucket or a spare one: it has two bits set for each of them, and `moved` counts them
// (CPP-08). A lookup that finds no tag here and whose two bits are not both set is a miss without a
// second line. Bits are never cleared one by one; when the count falls to zero, the filter does too
// (CPP-11).
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"

namespace roost {

inline constexpr unsigned kSlotsPerBucket = 8;

struct alignas(64) TagLine {
  static constexpr unsigned kSlots = kSlotsPerBucket;
  // The count of moved keys stays here once it has got here, and the filter is kept until the table
  // is cleared: a count that lost track must not reach zero too early, which would lose keys
  //
  static constexpr unsigned kMovedSaturated = 65'535;

  uint16_t tags[kSlotsPerBucket];
  uint16_t timers[kSlotsPerBucket];  // meaningful with SlotTimers only
  uint64_t filter;
  uint16_t moved;
  uint8_t busy;       // bit i: slot i holds an entry, live or expired
  uint8_t displaced;  // bit i: the entry in slot i is not in its primary bucket; a subset of busy
  uint8_t spared;     // 1: keys whose primary bucket this is sit in spare buckets; else 0
  uint8_t unused[11];
  uint8_t functions[kSlotsPerBucket];  // meaningful with HortonProbing only

  void set_busy(unsigned slots) { busy = static_cast<uint8_t>(slots); }
  void set_displaced(unsigned slots) { displaced = static_cast<uint8_t>(slots); }
  void set_moved(unsigned count) { moved = static_cast<uint16_t>(count); }
  void set_filter(uint64_t bits) { filter = bits; }

  // The two filter bits of a key, from the twelve low bits of its tag; they may be the same bit.
  // All keys of one filter share their primary bucket, whose choice does not depend on the tag, so
  // the bits are spread evenly. Example: tag 0x0FC1 has bits 1 and 63.
  [[nodiscard]] static constexpr uint64_t filter_bits(Tag tag) {
    const auto bits = static_cast<uint16_t>(tag);
    return (uint64_t{1} << (bits & 63)) | (uint64_t{1} << ((bits >> 6) & 63));
  }
};

static_assert(sizeof(TagLine) == 64, "a lookup must find everything in one cache line");
static_assert(offsetof(TagLine, tags) == 0 && offsetof(TagLine, timers) == 16,
              "tags and timers are loaded as aligned 128-bit registers");
static_assert(offsetof(TagLine, filter) == 32 && offsetof(TagLine, moved) == 40);
static_assert(offsetof(TagLine, busy) == 42 && offsetof(TagLine, displaced) == 43);
static_assert(offsetof(TagLine, spared) == 44 && offsetof(TagLine, functions) == 56);

}  // namespace roost
