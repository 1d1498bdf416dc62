// What a bucket's line is: 64 bytes that say of each slot whether it is busy and displaced. What
// else a line keeps, it has by the same name as the others that keep it: timers, a filter of what
// was displaced from the bucket, a mark of what is in the stash (see tag_line.h). The algorithm
// asks for each by a concept; what a line does not keep is worked out otherwise, or is not there.
#pragma once

#include <concepts>
#include <cstdint>

#include "roost/hash/hash64.h"
#include "roost/table/slot_mask.h"

namespace roost {

// A line with a bit a slot for what it holds. The fields may be bits of a word.
template <class L>
concept KeepsMasks = requires(const L& line, L& changed, SlotMask slots) {
  { unsigned{line.busy} };
  { unsigned{line.displaced} };
  changed.set_busy(slots);
  changed.set_displaced(slots);
};

// The slots of a line that hold an entry, live or expired; those whose entry is displaced.
template <class Line>
[[nodiscard]] constexpr SlotMask busy_slots(const Line& line) {
  if constexpr (KeepsMasks<Line>)
    return SlotMask{line.busy};
  else
    return line.busy_slots();
}
template <class Line>
[[nodiscard]] constexpr SlotMask displaced_slots(const Line& line) {
  if constexpr (KeepsMasks<Line>)
    return SlotMask{line.displaced};
  else
    return line.displaced_slots();
}

// A bucket's line: no bit set in fresh memory, which is an empty bucket.
template <class L>
concept BucketLine = sizeof(L) == 64 && requires(const L& line) {
  { busy_slots(line) } -> std::same_as<SlotMask>;
  { displaced_slots(line) } -> std::same_as<SlotMask>;
};

// A slot's last live tick, its low 16 bits.
template <class L>
concept KeepsTimers = requires(const L& line, unsigned slot) {
  { line.timers[slot] } -> std::convertible_to<uint16_t>;
};

// How many entries are displaced from the bucket, and a filter that leads to them.
template <class L>
concept KeepsFilter = requires(const L& line, L& changed, Tag tag, unsigned n) {
  // Where the count of moved keys stays once it has got there.
  { L::kMovedSaturated } -> std::convertible_to<unsigned>;
  // The filter bits of a key whose primary bucket this is.
  { L::filter_bits(tag) } -> std::same_as<uint64_t>;
  { unsigned{line.moved} };
  { uint64_t{line.filter} };
  changed.set_moved(n);
  changed.set_filter(uint64_t{n});
};

// Whether an entry displaced from the bucket is in the stash.
template <class L>
concept KeepsStashMark = requires(const L& line, L& changed) {
  { unsigned{line.has_stashed} };
  changed.has_stashed = 1;
};

// Marks a slot of a line that keeps masks as filled, or as free.
template <KeepsMasks Line>
void mark_filled(Line& line, unsigned slot, bool is_displaced) {
  line.set_busy(busy_slots(line) | SlotMask::of(slot));
  if (is_displaced) line.set_displaced(displaced_slots(line) | SlotMask::of(slot));
}
template <KeepsMasks Line>
void mark_free(Line& line, unsigned slot) {
  line.set_busy(busy_slots(line) - SlotMask::of(slot));
  line.set_displaced(displaced_slots(line) - SlotMask::of(slot));
}

}  // namespace roost
