// The flow register's estimate and the mode that follows from it (T-08): its errors at 8 to 64
// flows, saturation, switches both ways, and none back and forth.
#include <gtest/gtest.h>

#include <cmath>

#include "roost/traffic/draw.h"
#include "sim/hybrid_mode.h"
#include "tests/sim/script.h"

namespace roost::sim {
namespace {

// Bits of a register that stay unset when so many flows set one each at random.
uint32_t unset_after(uint32_t flows, traffic::Draw& draw) {
  uint32_t bits = 0;
  for (uint32_t flow = 0; flow < flows; ++flow) bits |= 1U << draw.below(32);
  return 32 - static_cast<uint32_t>(std::popcount(bits));
}

TEST(Hybrid, t08_estimates_are_as_good_as_linear_counting_is) {
  traffic::Draw draw(8);
  for (const uint32_t flows : {8U, 16U, 32U, 48U, 64U}) {
    double sum = 0;
    double squares = 0;
    uint32_t saturated = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto estimate = classify::FlowRegister::estimate_of(32, unset_after(flows, draw));
      saturated += estimate.is_saturated ? 1 : 0;
      const double error = estimate.flows / flows - 1;
      sum += error;
      squares += error * error;
    }
    const double bias = sum / kTrials;
    const double deviation = std::sqrt(squares / kTrials - bias * bias);
    EXPECT_LT(std::abs(bias), 0.08) << flows;
    EXPECT_LT(deviation, 0.26) << flows;
    EXPECT_LT(saturated, kTrials / 50) << flows;
  }
}

TEST(Hybrid, t08_a_saturated_register_is_many_flows) {
  EXPECT_TRUE(classify::FlowRegister::estimate_of(32, 0).is_saturated);
  EXPECT_FALSE(classify::FlowRegister::estimate_of(32, 1).is_saturated);
  EXPECT_EQ(classify::FlowRegister::estimate_of(32, 32).flows, 0.0);
  HybridMode mode(default_parameters());
  EXPECT_FALSE(mode.end_window(32));
  EXPECT_TRUE(mode.end_window(0));
}

TEST(Hybrid, t08_between_the_thresholds_either_mode_stays) {
  Parameters parameters = default_parameters();
  parameters.hybrid_flows_to_software = 56;
  parameters.hybrid_flows_to_accelerator = 72;
  HybridMode mode(parameters);
  EXPECT_TRUE(mode.end_window(5));  // 59.4 flows
  EXPECT_TRUE(mode.end_window(4));  // 66.5
  EXPECT_FALSE(mode.end_window(6)) << "53.6 flows are few";
  EXPECT_FALSE(mode.end_window(5));
  EXPECT_FALSE(mode.end_window(4));
  EXPECT_TRUE(mode.end_window(3)) << "75.7 are many";
  EXPECT_EQ(mode.switch_count(), 2U);
}

TEST(Hybrid, t08_the_mode_follows_the_flows_both_ways_and_does_not_oscillate) {
  HybridMode mode(default_parameters());
  traffic::Draw draw(3);
  const auto windows = [&](uint32_t flows, int count) {
    for (int i = 0; i < count; ++i) (void)mode.end_window(unset_after(flows, draw));
  };
  windows(10, 50);
  EXPECT_FALSE(mode.uses_accelerator());
  windows(1000, 50);
  EXPECT_TRUE(mode.uses_accelerator());
  windows(10, 50);
  EXPECT_FALSE(mode.uses_accelerator());
  EXPECT_EQ(mode.switch_count(), 3U) << "one a change of the traffic";
  // Between the thresholds an estimate that varies by its error leaves the mode as it is, mostly.
  const uint64_t before = mode.switch_count();
  windows(62, 1000);
  EXPECT_LT(mode.switch_count() - before, 250U);
  Parameters one_threshold = default_parameters();
  one_threshold.hybrid_flows_to_software = 61;
  one_threshold.hybrid_flows_to_accelerator = 62;
  HybridMode nervous(one_threshold);
  for (int i = 0; i < 1000; ++i) (void)nervous.end_window(unset_after(62, draw));
  EXPECT_GT(nervous.switch_count(), 2 * (mode.switch_count() - before));
}

}  // namespace
}  // namespace roost::sim
