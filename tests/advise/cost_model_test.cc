// Expected costs: at points they are the record's, between them they lie between, outside they say
// so.
#include "apps/advise/cost_model.h"

#include <gtest/gtest.h>

#include <string>

#include "apps/advise/cost_points.h"
#include "apps/advise/nat_points.h"
#include "tests/advise/workloads.h"

namespace roost::advise {
namespace {

Cost cost_of(double packets_each, double live, lb::Mode mode = lb::Mode::kL2dsr) {
  Workload workload = one_million();
  workload.mode = mode;
  workload.packets_each = packets_each;
  return expected_cost(workload, static_cast<uint64_t>(live)).value();
}

TEST(CostModel, every_point_is_its_own_figure) {
  for (const CostPoint& point : kCostPoints) {
    const Cost cost = cost_of(point.packets_each, point.live);
    EXPECT_NEAR(cost.state_ns, point.state_ns, 1e-6) << point.job;
    EXPECT_NEAR(cost.parsing_ns, point.parsing_ns, 1e-6) << point.job;
    EXPECT_EQ(cost.outside, "") << point.job;
    EXPECT_EQ(cost.records.front(), std::string(kCostRecord) + ": " + std::string(point.job));
    EXPECT_EQ(cost.records.size(), 2U) << "this point, and that of ports";
  }
}

TEST(CostModel, between_two_sizes_by_the_logarithm) {
  // In the geometric middle of 89,614 and 805,605 connections.
  const Cost cost = cost_of(80, 268'691);
  EXPECT_NEAR(cost.state_ns, (61.6 + 72.2) / 2, 0.01);
  EXPECT_EQ(cost.records.size(), 3U);
}

TEST(CostModel, between_two_lengths_by_what_a_packet_bears_of_its_connection) {
  // 1 / 32 is in the middle of 1 / 80 and 1 / 20.
  const double at_80 = cost_of(80, 100'000).state_ns;
  const double at_20 = cost_of(20, 100'000).state_ns;
  EXPECT_NEAR(cost_of(32, 100'000).state_ns, (at_80 + at_20) / 2, 0.01);
}

TEST(CostModel, outside_the_nearest_point_stands_and_it_is_said) {
  const Cost small = cost_of(80, 100);
  EXPECT_NEAR(small.state_ns, kCostPoints.front().state_ns, 1e-6);
  EXPECT_NE(small.outside.find("outside what was measured"), std::string::npos);
  const Cost large = cost_of(4, 100'000'000);
  EXPECT_NEAR(large.state_ns, kCostPoints.back().state_ns, 1e-6);
  EXPECT_NE(large.outside, "");
  EXPECT_NE(cost_of(2, 100'000).outside, "");
  EXPECT_NE(cost_of(200, 100'000).outside, "");
  EXPECT_NE(cost_of(80, 2'000'000).outside, "") << "so many of so many packets were not run";
}

TEST(CostModel, translation_costs_what_it_cost_where_it_was_measured) {
  const Cost cost = cost_of(kNatPoint.packets_each, kNatPoint.live, lb::Mode::kNat);
  EXPECT_NEAR(cost.state_ns, kNatPoint.state_ns, 1e-6);
  EXPECT_NEAR(cost.packet_ns(), kNatPoint.state_ns + cost.parsing_ns + kPortsNs, 1e-6);
}

TEST(CostModel, what_has_no_record_has_no_figure) {
  Workload workload = one_million();
  workload.families = Families::kIpv6;
  EXPECT_FALSE(expected_cost(workload, 1'000).ok());
  workload = one_million();
  workload.mode = lb::Mode::kFullnat;
  EXPECT_EQ(expected_cost(workload, 1'000).error().message,
            "no record has what a packet costs in mode \"fullnat\"");
}

}  // namespace
}  // namespace roost::advise
