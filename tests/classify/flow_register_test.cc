// Linear counting, its bounds, saturation, and the switch of the exact-match cache (T-08, X-62).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "roost/classify/flow_register.h"
#include "roost/traffic/draw.h"

namespace roost::classify {
namespace {

FlowRegister::Config register_config(uint32_t bits, uint32_t off, uint32_t on) {
  return {.bits = bits, .window_packets = 1'024, .flows_off = off, .flows_on = on};
}

// A window of this many flows in turn, whose packets took so many lookups each; whether that
// switched the cache.
bool run_window(FlowRegister& flows, uint64_t flow_count, uint64_t seed, uint32_t lookups = 10) {
  bool has_switched = false;
  for (uint64_t packet = 0; packet < 1'024; ++packet) {
    if (flows.is_counting()) flows.note(traffic::mix(seed << 32 | packet % flow_count));
    has_switched |= flows.end_batch(1, 1, lookups);
  }
  return has_switched;
}

// The same, up to a window that is counted.
bool run_counted(FlowRegister& flows, uint64_t flow_count, uint64_t seed, uint32_t lookups = 10) {
  while (!flows.is_counting()) EXPECT_FALSE(run_window(flows, flow_count, seed, lookups));
  return run_window(flows, flow_count, seed, lookups);
}

TEST(FlowRegister, estimates_are_within_three_deviations_of_the_flows) {
  // Of 32 bits, as in the paper, and of more. Deviation: sqrt(m (e^t - t - 1)) for t = n / m.
  for (const uint32_t bits : {32u, 1'024u}) {
    for (uint64_t flow_count = 8; flow_count <= uint64_t{2} * bits; flow_count *= 2) {
      constexpr int kWindows = 400;
      double sum = 0;
      int counted = 0;
      for (uint64_t seed = 0; seed < kWindows; ++seed) {
        FlowRegister flows(register_config(bits, 100'000, 1));
        for (uint64_t flow = 0; flow < flow_count; ++flow) {
          flows.note(traffic::mix(seed << 32 | flow));
        }
        if (flows.estimate().is_saturated) continue;
        sum += flows.estimate().flows;
        ++counted;
      }
      const double m = bits;
      const double t = static_cast<double>(flow_count) / m;
      const double deviation = std::sqrt(m * (std::exp(t) - t - 1));
      // The estimate is a little too high: by about (e^t - t - 1) / 2 on average; saturated windows
      // are left out, which makes it too low where there are many.
      const double error = std::abs(sum / counted - static_cast<double>(flow_count));
      EXPECT_LT(error, 3 * deviation / std::sqrt(counted) + (std::exp(t) - t - 1) / 2 +
                           0.1 * static_cast<double>(flow_count))
          << bits << " bits, " << flow_count << " flows";
      EXPECT_GT(counted, kWindows / 2);
    }
  }
}

TEST(FlowRegister, says_that_it_is_saturated) {
  FlowRegister flows(register_config(32, 100'000, 1));
  for (uint64_t bit = 0; bit < 31; ++bit) flows.note(bit);
  EXPECT_FALSE(flows.estimate().is_saturated);
  const double most = flows.estimate().flows;
  EXPECT_DOUBLE_EQ(most, 32 * std::log(32.0));
  flows.note(31);
  EXPECT_TRUE(flows.estimate().is_saturated);
  EXPECT_GE(flows.estimate().flows, most);
}

TEST(FlowRegister, saturation_counts_as_too_many_flows) {
  FlowRegister flows(register_config(32, 100'000, 1));
  EXPECT_TRUE(run_window(flows, 1'024, 1));
  EXPECT_FALSE(flows.is_cache_used());
}

TEST(FlowRegister, switches_both_ways) {
  FlowRegister flows(register_config(256, 200, 100));
  EXPECT_FALSE(run_window(flows, 50, 1));
  EXPECT_TRUE(flows.is_cache_used());
  EXPECT_TRUE(run_counted(flows, 400, 2));
  EXPECT_FALSE(flows.is_cache_used());
  EXPECT_NEAR(flows.last_window().flows, 400, 100);
  uint32_t windows = 0;
  while (!flows.is_cache_used() && windows < 100) {
    run_window(flows, 50, 3 + windows);
    ++windows;
  }
  EXPECT_EQ(windows, FlowRegister::kWindowsApart);
}

TEST(FlowRegister, counts_one_window_in_two_and_fewer_while_the_cache_is_off) {
  FlowRegister flows(register_config(256, 200, 100));
  const auto counted = [&](uint64_t flow_count) {
    uint32_t counting = 0;
    for (uint64_t window = 0; window < 32; ++window) {
      if (flows.is_counting()) ++counting;
      run_window(flows, flow_count, window);
    }
    return counting;
  };
  EXPECT_EQ(counted(50), 16u);
  EXPECT_TRUE(run_counted(flows, 400, 1));
  EXPECT_EQ(counted(400), 2u);
}

TEST(FlowRegister, does_not_oscillate_between_its_thresholds) {
  FlowRegister flows(register_config(256, 200, 100));
  uint32_t switches = 0;
  for (uint64_t window = 0; window < 500; ++window) {
    if (run_window(flows, 150, window)) ++switches;
  }
  EXPECT_EQ(switches, 0u);
  run_counted(flows, 400, 1);
  for (uint64_t window = 0; window < 500; ++window) {
    if (run_window(flows, 150, window)) ++switches;
  }
  EXPECT_EQ(switches, 0u);
  EXPECT_FALSE(flows.is_cache_used());
}

TEST(FlowRegister, a_cache_that_saves_no_lookups_is_out_of_use) {
  FlowRegister flows(register_config(256, 200, 100));
  EXPECT_TRUE(run_window(flows, 50, 1, 1));
  EXPECT_FALSE(flows.is_cache_used());
  for (uint64_t window = 0; window < 64; ++window) EXPECT_FALSE(run_window(flows, 50, window, 1));
  uint32_t windows = 0;
  while (!flows.is_cache_used() && windows < 100) run_window(flows, 50, ++windows, 2);
  EXPECT_LE(windows, FlowRegister::kWindowsApart);
}

TEST(FlowRegister, what_the_cache_answers_says_nothing_of_lookups) {
  FlowRegister flows(register_config(256, 200, 100));
  for (uint64_t packet = 0; packet < 4'096; ++packet) {
    flows.note(traffic::mix(packet % 50));
    EXPECT_FALSE(flows.end_batch(1, 0, 0));
  }
  EXPECT_TRUE(flows.is_cache_used());
}

TEST(FlowRegister, does_not_oscillate_between_its_numbers_of_lookups) {
  FlowRegister::Config config = register_config(256, 200, 100);
  config.lookups_off = 2;
  config.lookups_on = 4;
  FlowRegister flows(config);
  for (uint64_t window = 0; window < 50; ++window) EXPECT_FALSE(run_window(flows, 50, window, 3));
  EXPECT_TRUE(run_counted(flows, 50, 1, 1));
  for (uint64_t window = 0; window < 50; ++window) EXPECT_FALSE(run_window(flows, 50, window, 3));
  EXPECT_FALSE(flows.is_cache_used());
}

}  // namespace
}  // namespace roost::classify
