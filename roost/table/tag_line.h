// A bucket's line: all that a lookup needs to know of eight slots, in one cache line (CPP-03).
//
//   byte  0        16       32       40    42   43     44     45         46           63
//        +--------+--------+--------+-----+----+------+------+----------+------------+
//        | 8 tags |8 timers| filter |moved|busy|displ.|stash |remembered|9 moved tags|
//        +--------+--------+--------+-----+----+------+------+----------+------------+
//          16 bit   16 bit   64 bit  16    8     8 bit  8 bit   8 bit       16 bit
//
// An all-zero line is an empty bucket, so fresh memory needs no initialisation.
//
// Other layouts have lines of their own (layout.h), with fields of the same names where they mean
// the same, so that the algorithm is written once.
//
// The filter is of the keys whose primary bucket this is but which sit elsewhere, in their
// secondary bucket or the stash: it has two bits set for each of them, and `moved` counts them
// (CPP-08). A lookup that finds no tag here and whose two bits are not both set is a miss without a
// second line.
//
// Bits cannot be cleared one by one; when the count falls to zero, the filter does too (CPP-11). In
// a full table that changes, hardly a count ever does, and the bits of keys that left would pile
// up. So the line remembers the tags of nine of these keys, and whenever they are all there are,
// the filter is rebuilt from them. Lookups do not read them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/table/slot_mask.h"

namespace roost {

inline constexpr unsigned kSlotsPerBucket = 8;

struct alignas(64) TagLine {
  static constexpr unsigned kSlots = kSlotsPerBucket;
  // The count of moved keys stays here once it has got here, and the filter is kept until the table
  // is cleared: a count that lost track must not reach zero too early, which would lose keys
  //
  static constexpr unsigned kMovedSaturated = 65'535;
  // With five, one bucket in twenty has more keys elsewhere at load 0.95, with nine one in four
  // hundred.
  static constexpr unsigned kMovedTagsMax = 9;

  uint16_t tags[kSlotsPerBucket];
  uint16_t timers[kSlotsPerBucket];  // meaningful with SlotTimers only
  uint64_t filter;
  uint16_t moved;
  uint8_t busy;         // bit i: slot i holds an entry, live or expired
  uint8_t displaced;    // bit i: the entry in slot i is not in its primary bucket; a subset of busy
  uint8_t has_stashed;  // 1: keys whose primary bucket this is are in the stash; else 0
  uint8_t remembered;   // moved tags that are known
  union {
    uint16_t moved_tags[kMovedTagsMax];
    uint8_t functions[kSlotsPerBucket];  // with HortonProbing
  };

  // The words that the filter, the masks and the stash mark are in.
  static constexpr size_t kFirstWordOfMarks = 4;
  static constexpr size_t kEndOfMarks = 6;

  void set_busy(SlotMask slots) { busy = static_cast<uint8_t>(slots.bits()); }
  void set_displaced(SlotMask slots) { displaced = static_cast<uint8_t>(slots.bits()); }
  void set_moved(unsigned count) { moved = static_cast<uint16_t>(count); }
  void set_filter(uint64_t bits) { filter = bits; }

  // A key with this tag was displaced from here.
  void note_moved(Tag tag) {
    if (remembered < kMovedTagsMax) moved_tags[remembered++] = static_cast<uint16_t>(tag);
  }

  // One that sits elsewhere has this tag: it is remembered, if others are not and there is room.
  void remind_moved(Tag tag) {
    if (remembers_all_moved() || remembered == kMovedTagsMax || place_of(tag) != remembered) return;
    moved_tags[remembered++] = static_cast<uint16_t>(tag);
    renew_filter();
  }

  // One that sat elsewhere has left, and is not counted any more.
  void forget_moved(Tag tag) {
    if (const unsigned place = place_of(tag); place != remembered)
      moved_tags[place] = moved_tags[--remembered];
    renew_filter();
  }

  // Whether the filter has no bits but those of the keys that sit elsewhere.
  [[nodiscard]] bool remembers_all_moved() const { return remembered == moved; }

  // The two filter bits of a key, from the twelve low bits of its tag; they may be the same bit.
  // All keys of one filter share their primary bucket, whose choice does not depend on the tag, so
  // the bits are spread evenly. Example: tag 0x0FC1 has bits 1 and 63.
  [[nodiscard]] static constexpr uint64_t filter_bits(Tag tag) {
    const auto bits = static_cast<uint16_t>(tag);
    return (uint64_t{1} << (bits & 63)) | (uint64_t{1} << ((bits >> 6) & 63));
  }

 private:
  // Where a tag is remembered; behind the last one if it is not.
  [[nodiscard]] unsigned place_of(Tag tag) const {
    unsigned place = 0;
    while (place < remembered && moved_tags[place] != static_cast<uint16_t>(tag)) ++place;
    return place;
  }

  void renew_filter() {
    if (!remembers_all_moved()) return;
    filter = 0;
    for (unsigned place = 0; place < remembered; ++place)
      filter |= filter_bits(Tag{moved_tags[place]});
  }
};

static_assert(sizeof(TagLine) == 64, "a lookup must find everything in one cache line");
static_assert(offsetof(TagLine, tags) == 0 && offsetof(TagLine, timers) == 16,
              "tags and timers are loaded as aligned 128-bit registers");
static_assert(offsetof(TagLine, filter) == 32 && offsetof(TagLine, moved) == 40);
static_assert(offsetof(TagLine, busy) == 42 && offsetof(TagLine, displaced) == 43);
static_assert(offsetof(TagLine, has_stashed) == 44 && offsetof(TagLine, moved_tags) == 46);

}  // namespace roost
