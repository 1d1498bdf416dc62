// Which seeds and slots the keys of a line get, whatever the keys are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/compact/line_layout.h"

namespace roost::compact {

// A set of slots.
using SlotSet = uint64_t;

// The first seed that sends these words to different slots outside `taken`; nothing: there is none.
// `chosen` gets those slots.
[[nodiscard]] inline std::optional<uint8_t> find_group_seed(uint32_t slots,
                                                            std::span<const uint32_t> words,
                                                            SlotSet taken, SlotSet& chosen) {
  for (unsigned seed = 0; seed < kSeedFurther; ++seed) {
    SlotSet mine = 0;
    size_t at = 0;
    for (; at < words.size(); ++at) {
      const SlotSet slot = SlotSet{1} << slot_of_word(words[at], static_cast<uint8_t>(seed), slots);
      if (((mine | taken) & slot) != 0) break;
      mine |= slot;
    }
    if (at < words.size()) continue;
    chosen = mine;
    return static_cast<uint8_t>(seed);
  }
  return {};
}

// A key of a line.
struct LineItem {
  uint32_t group = 0;
  uint32_t word = 0;
};

// Seeds by group; kSeedFurther where the group's keys found no slots.
using LineSeeds = std::array<uint8_t, kSlotsMax / 2>;

// Fills an empty line with keys, the group of most keys first: those that come last find few slots
// free, and one key finds the last one.
[[nodiscard]] LineSeeds fill_line(const LineShape& shape, std::span<const LineItem> items);

}  // namespace roost::compact
