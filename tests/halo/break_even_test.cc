// From which size on an accelerator is as fast: of ratios that are given.
#include "apps/halo/break_even.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace roost::halo {
namespace {

TEST(BreakEven, is_the_size_from_which_on_nothing_is_slower) {
  constexpr std::array<uint64_t, 4> kSizes = {8, 32, 128, 512};
  using Ratios = std::array<double, 4>;
  EXPECT_EQ(even_from(kSizes, Ratios{1, 1, 1, 1}), 8U);
  EXPECT_EQ(even_from(kSizes, Ratios{0.5, 0.9, 1, 2}), 128U);
  EXPECT_EQ(even_from(kSizes, Ratios{2, 0.9, 1.1, 2}), 128U) << "not the first one that is faster";
  EXPECT_EQ(even_from(kSizes, Ratios{2, 2, 2, 0.99}), std::nullopt);
}

TEST(BreakEven, sizes_are_four_times_apart_up_to_the_last_one) {
  EXPECT_EQ(ladder_sizes(2048), (std::vector<uint64_t>{8, 32, 128, 512, 2048}));
  EXPECT_EQ(ladder_sizes(2047), (std::vector<uint64_t>{8, 32, 128, 512}));
  EXPECT_TRUE(ladder_sizes(0).empty());
}

}  // namespace
}  // namespace roost::halo
