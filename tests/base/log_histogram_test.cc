// Quantiles of the histogram against those of the sorted values.
#include "roost/base/log_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace roost {
namespace {

TEST(LogHistogram, has_quantiles_within_one_in_128) {
  std::mt19937_64 draw(1);
  for (const unsigned bits : {3U, 8U, 9U, 20U, 41U}) {
    LogHistogram histogram;
    std::vector<uint64_t> values;
    for (int i = 0; i < 20'000; ++i) {
      values.push_back((draw() >> (64 - bits)) >> (draw() % bits));
      histogram.add(values.back());
    }
    std::ranges::sort(values);
    ASSERT_EQ(histogram.total(), values.size());
    ASSERT_EQ(histogram.greatest(), values.back());
    for (const double share : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
      const auto rank =
          static_cast<size_t>(std::max(1.0, std::ceil(share * static_cast<double>(values.size()))));
      const uint64_t expected = values[rank - 1];
      ASSERT_GE(histogram.quantile(share), expected) << bits << " bits, " << share;
      ASSERT_LE(histogram.quantile(share), expected + expected / 128) << bits << " bits, " << share;
    }
  }
}

TEST(LogHistogram, keeps_the_greatest_value_beyond_its_classes) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  histogram.add(0);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  EXPECT_EQ(histogram.quantile(1), LogHistogram::kValueMax);
  EXPECT_EQ(histogram.greatest(), UINT64_MAX);
}

TEST(LogHistogram, sums_its_greatest_values) {
  LogHistogram histogram;
  for (uint64_t value = 1; value <= 200; ++value) histogram.add(value);
  EXPECT_EQ(histogram.sum_of_greatest(0.01), 200 + 199);
  EXPECT_EQ(histogram.sum_of_greatest(1), 200 * 201 / 2);
  EXPECT_EQ(histogram.sum_of_greatest(0), 0);
  histogram.add(1'000'000);
  EXPECT_EQ(histogram.sum_of_greatest(0.001), 1'000'000);
}

TEST(LogHistogram, adds_up) {
  LogHistogram all;
  LogHistogram one;
  LogHistogram other;
  for (uint64_t value = 0; value < 10'000; ++value) {
    all.add(value * value);
    (value % 3 == 0 ? one : other).add(value * value);
  }
  one += other;
  EXPECT_EQ(one.total(), all.total());
  EXPECT_EQ(one.greatest(), all.greatest());
  for (int percent = 0; percent <= 100; ++percent)
    ASSERT_EQ(one.quantile(percent / 100.0), all.quantile(percent / 100.0));
  one.clear();
  EXPECT_EQ(one.total(), 0U);
}

}  // namespace
}  // namespace roost
