// Zipf's law against its definition.
#include "roost/traffic/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace roost::traffic {
namespace {

TEST(Zipf, ranks_come_as_often_as_the_law_says) {
  constexpr uint64_t kRanks = 50;
  constexpr int kDraws = 200'000;
  for (const double exponent : {0.0, 0.5, 0.99, 1.0, 1.3, 2.5}) {
    std::vector<int> times(kRanks + 1);
    Draw draw(11);
    const Zipf zipf(kRanks, exponent);
    for (int i = 0; i < kDraws; ++i) ++times.at(zipf.rank(draw));
    double sum = 0;
    for (uint64_t rank = 1; rank <= kRanks; ++rank)
      sum += std::pow(static_cast<double>(rank), -exponent);
    EXPECT_EQ(times[0], 0);
    for (uint64_t rank = 1; rank <= kRanks; ++rank) {
      const double wanted = kDraws * std::pow(static_cast<double>(rank), -exponent) / sum;
      EXPECT_NEAR(times[rank], wanted, 5 * std::sqrt(wanted) + 5)
          << "rank " << rank << ", exponent " << exponent;
    }
  }
}

TEST(Zipf, ranks_stay_in_range_at_the_ends) {
  Draw draw(1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Zipf(1, 1.2).rank(draw), 1U);
  const Zipf large(uint64_t{1} << 30, 0.2);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t rank = large.rank(draw);
    EXPECT_GE(rank, 1U);
    EXPECT_LE(rank, uint64_t{1} << 30);
  }
}

}  // namespace
}  // namespace roost::traffic
