// A bucket's line of eight whole entries, a word each: a forwarding table's.
//
//   line   byte 0    8       16             56      64
//          +--------+-------+----  ...  ----+-------+
//          | slot 0 | slot 1|               | slot 7|
//          +--------+-------+----  ...  ----+-------+
//
//   slot   bit 63     48 47                     2        1      0
//          +------------+------------------------+-----------+------+
//          |   value    |       remainder        | displaced | busy |
//          +------------+------------------------+-----------+------+
//
// The remainder is what the bucket does not say of the key's hash, which is a permutation of the
// key (packed_layout.h). A word of zero is a free slot: so what a slot holds changes by one store.
// There is no room for timers, a filter, a count or a mark: probing is optimistic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/table/bucket_line.h"
#include "roost/table/slot_mask.h"

namespace roost {

inline constexpr unsigned kRemainderBits = 46;
inline constexpr uint64_t kRemainderMask = (uint64_t{1} << kRemainderBits) - 1;

struct alignas(64) PackedLine {
  static constexpr unsigned kSlots = 8;
  static constexpr uint64_t kBusy = 1;
  static constexpr uint64_t kDisplaced = 2;
  static constexpr unsigned kRemainderShift = 2;
  static constexpr unsigned kValueShift = 48;

  std::array<uint64_t, kSlots> words;

  [[nodiscard]] constexpr SlotMask busy_slots() const { return slots_with(kBusy); }
  [[nodiscard]] constexpr SlotMask displaced_slots() const { return slots_with(kDisplaced); }

  // The slots whose word is not zero: the busy ones, and no others.
  [[nodiscard]] constexpr SlotMask written_slots() const { return slots_with(~uint64_t{0}); }

  // A busy slot's word without its value.
  [[nodiscard]] static constexpr uint64_t word_of(Tag remainder, bool is_displaced) {
    return static_cast<uint64_t>(remainder) << kRemainderShift |
           (is_displaced ? kDisplaced | kBusy : kBusy);
  }
  [[nodiscard]] static constexpr Tag remainder_of(uint64_t word) {
    return Tag{word >> kRemainderShift & kRemainderMask};
  }

 private:
  [[nodiscard]] constexpr SlotMask slots_with(uint64_t bit) const {
    uint32_t slots = 0;
    for (unsigned slot = 0; slot < kSlots; ++slot)
      slots |= static_cast<uint32_t>((words[slot] & bit) != 0) << slot;
    return SlotMask{slots};
  }
};

static_assert(sizeof(PackedLine) == 64, "a lookup must find everything in one cache line");
static_assert(BucketLine<PackedLine> && !KeepsMasks<PackedLine> && !KeepsFilter<PackedLine> &&
              !KeepsTimers<PackedLine> && !KeepsStashMark<PackedLine>);

}  // namespace roost
