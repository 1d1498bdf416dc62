// The distances of arrivals against their laws.
#include "roost/traffic/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace roost::traffic {
namespace {

constexpr double kPerSecond = 20'000;
constexpr int kDistances = 200'000;

std::vector<double> distances(ArrivalLaw law) {
  Arrivals arrivals({.law = law, .per_second = kPerSecond, .burst = 32});
  Draw draw(3);
  std::vector<double> seconds;
  for (int i = 0; i < kDistances; ++i) seconds.push_back(arrivals.seconds_to_next(draw));
  return seconds;
}

double sum(const std::vector<double>& seconds) {
  double all = 0;
  for (const double one : seconds) all += one;
  return all;
}

// P(more than t) = exp(-rate * t), at the quarters and in the tail.
TEST(Arrivals, of_poisson_are_exponentially_apart) {
  const std::vector<double> seconds = distances(ArrivalLaw::kPoisson);
  EXPECT_NEAR(sum(seconds) * kPerSecond / kDistances, 1, 0.01);
  for (const double share : {0.75, 0.5, 0.25, 0.01, 0.001}) {
    const double limit = -std::log(share) / kPerSecond;
    const auto longer =
        std::count_if(seconds.begin(), seconds.end(), [&](double one) { return one > limit; });
    const double wanted = share * kDistances;
    EXPECT_NEAR(static_cast<double>(longer), wanted, 5 * std::sqrt(wanted)) << "share " << share;
  }
}

TEST(Arrivals, that_are_paced_are_as_far_apart_as_each_other) {
  for (const double one : distances(ArrivalLaw::kPaced)) ASSERT_DOUBLE_EQ(one, 1 / kPerSecond);
}

TEST(Arrivals, of_bursts_come_together_and_keep_the_rate) {
  const std::vector<double> seconds = distances(ArrivalLaw::kBursts);
  EXPECT_NEAR(sum(seconds) * kPerSecond / kDistances, 1, 0.06);
  for (size_t i = 0; i < seconds.size(); ++i) ASSERT_EQ(seconds[i] > 0, i % 32 == 0) << i;
}

}  // namespace
}  // namespace roost::traffic
