// A measurement: the load is as it was asked for, nothing is lost, and what cannot be measured is
// refused.
#include "apps/advise/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/advise/workloads.h"

namespace roost::advise {
namespace {

constexpr MeasureOptions kShort{.round_packets = 10'000, .rounds = 3};

Workload small(Families families, lb::Mode mode) {
  return {.connections = 2'000,
          .new_per_second = 1'000,
          .packets_per_second = 20'000,
          .families = families,
          .mode = mode};
}

Advice advice_for(const Workload& workload) {
  TimeoutSeconds timeouts = default_timeout_seconds();
  timeouts[kTcpClosed] = 1;
  return advise(workload, timeouts, {}).value();
}

TEST(Measure, has_the_connections_that_were_asked_for_and_loses_nothing) {
  for (const Families families : {Families::kIpv4, Families::kIpv6, Families::kBoth}) {
    for (const lb::Mode mode : {lb::Mode::kNat, lb::Mode::kL2dsr}) {
      const auto measured = measure(advice_for(small(families, mode)), kShort);
      ASSERT_TRUE(measured.ok()) << measured.error().message;
      const Measurement& one = measured.value();
      EXPECT_EQ(one.lost, 0U);
      // 2,000 alive, and those closed in the last second, or in two, as ticks go.
      EXPECT_NEAR(static_cast<double>(one.live), 3'400, 800);
      EXPECT_NEAR(static_cast<double>(one.begun_per_second), 1'000, 20);
      EXPECT_GT(one.least_ns, 0);
      EXPECT_LE(one.least_ns, one.datapath_ns);
      EXPECT_LE(one.datapath_ns, one.greatest_ns);
    }
  }
}

TEST(Measure, connections_that_last_long_are_there_before_it_begins) {
  Workload workload = small(Families::kIpv4, lb::Mode::kNat);
  workload.connections = 20'000;  // each lasts 20 s
  const auto measured = measure(advice_for(workload), kShort);
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  // Of 20 packets the last comes after 19 of 20 gaps, and 19 of 20 connections are there.
  EXPECT_NEAR(static_cast<double>(measured.value().live), 18'500, 800);
  EXPECT_EQ(measured.value().lost, 0U);
}

TEST(Measure, a_worker_has_its_share) {
  Workload workload = small(Families::kIpv4, lb::Mode::kNat);
  workload.cores = 2;
  const auto measured = measure(advice_for(workload), kShort);
  ASSERT_TRUE(measured.ok());
  EXPECT_NEAR(static_cast<double>(measured.value().live), 1'750, 400);
}

TEST(Measure, refuses_what_would_not_fill_the_table_or_take_too_long) {
  Workload workload = small(Families::kIpv4, lb::Mode::kNat);
  workload.new_per_second = 0;
  EXPECT_FALSE(measure(advice_for(workload), kShort).ok());
  workload = one_million();
  MeasureOptions options = kShort;
  options.warm_up_packets_max = 1'000'000;
  const auto measured = measure(advice_for(workload), options);
  ASSERT_FALSE(measured.ok());
  EXPECT_NE(measured.error().message.find("packets pass until"), std::string::npos);
}

TEST(Measure, skew_is_a_tail) {
  // The largest hundredth of Pareto's law with tail 2 has a tenth.
  EXPECT_NEAR(tail_of(0.1), 2, 1e-9);
  EXPECT_EQ(tail_of(1), 1.05);
  EXPECT_EQ(tail_of(0.0101), 5);
  Workload workload = small(Families::kIpv4, lb::Mode::kNat);
  MeasureOptions options = kShort;
  options.largest_share = 0.2;
  const auto measured = measure(advice_for(workload), options);
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  EXPECT_EQ(measured.value().lost, 0U);
}

}  // namespace
}  // namespace roost::advise
