// Masks of slots: their order, and their sets against std::bitset over every byte.
#include "roost/table/slot_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <ranges>
#include <type_traits>
#include <vector>

namespace roost {
namespace {

static_assert(std::ranges::forward_range<const SlotMask>);
static_assert(!std::is_convertible_v<SlotMask, LaneMask> &&
                  !std::is_convertible_v<uint32_t, SlotMask>,
              "slots, lanes and numbers do not mix");

constexpr unsigned digits_of(SlotMask mask) {
  unsigned digits = 0;
  for (const unsigned slot : mask) digits = 10 * digits + slot;
  return digits;
}
static_assert(digits_of(SlotMask{0b1010'0110}) == 1257, "lowest first");
static_assert(digits_of(SlotMask{}) == 0);

TEST(SlotMask, a_loop_visits_each_slot_once_from_the_lowest_on) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    std::vector<unsigned> expected;
    for (unsigned slot = 0; slot < 8; ++slot) {
      if (std::bitset<8>(bits).test(slot)) expected.push_back(slot);
    }
    std::vector<unsigned> visited;
    for (const unsigned slot : SlotMask{bits}) visited.push_back(slot);
    ASSERT_EQ(visited, expected);
    ASSERT_EQ(SlotMask{bits}.count(), expected.size());
    ASSERT_EQ(SlotMask{bits}.empty(), expected.empty());
    ASSERT_EQ(SlotMask{bits}.lowest_or(7), expected.empty() ? 7 : expected.front());
    for (unsigned slot = 0; slot < 8; ++slot)
      ASSERT_EQ(SlotMask{bits}.has(slot), std::ranges::count(expected, slot) == 1);
  }
}

TEST(SlotMask, sets_are_joined_cut_and_taken_away) {
  constexpr SlotMask kLow = SlotMask::below(3);
  constexpr SlotMask kOdd{0b10101010};
  EXPECT_EQ(kLow, SlotMask{0b111});
  EXPECT_EQ(kLow | kOdd, SlotMask{0b10101111});
  EXPECT_EQ(kLow & kOdd, SlotMask::of(1));
  EXPECT_EQ(kLow - kOdd, SlotMask{0b101});
  EXPECT_EQ(kOdd.from(4), SlotMask{0b10100000});
  EXPECT_EQ(kOdd.lowest(), 1U);
  EXPECT_EQ(SlotMask::of(5, false), SlotMask{});
}

TEST(LaneMask, holds_all_32_lanes_and_a_filter_all_64_bits) {
  EXPECT_EQ(LaneMask{~0U}.count(), 32U);
  EXPECT_EQ(LaneMask::of(31).lowest(), 31U);
  EXPECT_EQ(FilterMask{uint64_t{1} << 63}.lowest(), 63U);
}

}  // namespace
}  // namespace roost
