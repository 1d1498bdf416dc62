// A bucket's line with whole slots in it: keys, values and all that a lookup needs to know of them,
// in one cache line.
//
//   two slots      byte 0                               58       62        64
//                  +--------+--------+------+------+----+--------+---------+
//                  | value 0| value 1| key 0| key 1| .. |2 timers| 16 bits |
//                  +--------+--------+------+------+----+--------+---------+
//                     bits: busy 2, displaced 2, moved 4, has_stashed 1, filter 7
//
//   three slots    byte 0                               52       58        60       64
//                  +---------------+---------------+----+--------+---------+--------+
//                  | values 0 .. 2 | keys 0 .. 2   | .. |3 timers| 16 bits | filter |
//                  +---------------+---------------+----+--------+---------+--------+
//                     bits: busy 3, displaced 3, moved 9, has_stashed 1
//
// The fields mean what TagLine's do. There are no tags: the keys are there to be compared. Values
// come first, so that each is aligned for every type of its size; a key is stored without padding
// and read as a whole register, together with whatever follows it in the line.
//
// The filter has one of seven bits set for each displaced key, or two of 32. A key's bits also say
// which buckets it may have gone to: twelve for a bit of seven, two for the first of a pair. So
// what was displaced from a bucket can be found, and the filter rebuilt when one of them leaves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/table/entry.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"

namespace roost {

template <unsigned kSlotCount>
struct InlineLine;

template <>
struct alignas(64) InlineLine<2> {
  static constexpr unsigned kSlots = 2;
  static constexpr unsigned kMovedSaturated = 15;
  // The words that all fields but the timers are in.
  static constexpr size_t kFirstWordOfMarks = 7;
  static constexpr size_t kEndOfMarks = 8;
  // Two choices of two slots end at a load of 0.897.
  static constexpr double kPromisedLoad = 0.85;

  std::byte entries[58];
  uint16_t timers[kSlots];  // meaningful with SlotTimers only
  uint16_t busy : 2;
  uint16_t displaced : 2;
  uint16_t moved : 4;
  uint16_t has_stashed : 1;
  uint16_t filter : 7;

  void set_busy(SlotMask slots) { busy = slots.bits() & 3; }
  void set_displaced(SlotMask slots) { displaced = slots.bits() & 3; }
  void set_moved(unsigned count) { moved = count & 15; }
  void set_filter(uint64_t bits) { filter = bits & 127; }

  // The function of the bucket map that displaces a key: with bit n, one of 12 n to 12 n + 11. With
  // fewer, keys of one bucket would too often all be sent to one other.
  static constexpr unsigned kBitsOfAKey = 1;
  static constexpr unsigned kFunctionsOfABit = 12;
  [[nodiscard]] static constexpr unsigned function(Tag tag) {
    return unsigned{static_cast<uint16_t>(tag)} * 7 * kFunctionsOfABit >> 16;
  }

  // Example: tags up to 0x2492 have bit 0, the last 9,362 have bit 6.
  [[nodiscard]] static constexpr uint64_t filter_bits(Tag tag) {
    return uint64_t{1} << (unsigned{static_cast<uint16_t>(tag)} * 7 >> 16);
  }
};

template <>
struct alignas(64) InlineLine<3> {
  static constexpr unsigned kSlots = 3;
  static constexpr unsigned kMovedSaturated = 511;
  static constexpr size_t kFirstWordOfMarks = 7;
  static constexpr size_t kEndOfMarks = 8;
  // Two choices of three slots end at a load of 0.959.
  static constexpr double kPromisedLoad = 0.90;

  std::byte entries[52];
  uint16_t timers[kSlots];
  uint16_t busy : 3;
  uint16_t displaced : 3;
  uint16_t moved : 9;
  uint16_t has_stashed : 1;
  uint32_t filter;

  void set_busy(SlotMask slots) { busy = slots.bits() & 7; }
  void set_displaced(SlotMask slots) { displaced = slots.bits() & 7; }
  void set_moved(unsigned count) { moved = count & 511; }
  void set_filter(uint64_t bits) { filter = static_cast<uint32_t>(bits); }

  static constexpr unsigned kBitsOfAKey = 2;
  static constexpr unsigned kFunctionsOfABit = 2;
  [[nodiscard]] static constexpr unsigned function(Tag tag) {
    const auto bits = static_cast<uint16_t>(tag);
    return (bits & 31) * kFunctionsOfABit + ((bits >> 10) & 1);
  }

  // From the tag's ten low bits; they may be the same bit. Example: tag 0x03E1 has bits 1 and 31.
  [[nodiscard]] static constexpr uint64_t filter_bits(Tag tag) {
    const auto bits = static_cast<uint16_t>(tag);
    return (uint64_t{1} << (bits & 31)) | (uint64_t{1} << ((bits >> 5) & 31));
  }
};

static_assert(sizeof(InlineLine<2>) == 64 && sizeof(InlineLine<3>) == 64,
              "a hit must find everything in one cache line");
static_assert(offsetof(InlineLine<2>, timers) == 58 && offsetof(InlineLine<3>, timers) == 52);
static_assert(offsetof(InlineLine<3>, filter) == 60);
static_assert(BucketLine<InlineLine<2>> && BucketLine<InlineLine<3>>);

inline constexpr size_t kInlineKeyBytesMin = 4;
inline constexpr size_t kInlineKeyBytesMax = 16;

// Slots that a line has for keys and values of these sizes: three, two, or none, if they do not
// fit. The last key, read as a padded key, must not leave the line; that fails at 9 + 20 bytes
// only.
[[nodiscard]] constexpr unsigned inline_slots(size_t key_bytes, size_t value_bytes) {
  if (key_bytes < kInlineKeyBytesMin || key_bytes > kInlineKeyBytesMax) return 0;
  const auto fit = [&](size_t slots, size_t bytes) {
    return slots * (key_bytes + value_bytes) <= bytes &&
           slots * value_bytes + (slots - 1) * key_bytes + padded_key_bytes(key_bytes) <= 64;
  };
  if (fit(3, sizeof(InlineLine<3>::entries))) return 3;
  return fit(2, sizeof(InlineLine<2>::entries)) ? 2 : 0;
}

}  // namespace roost
