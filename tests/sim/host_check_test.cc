// What is kept of a host check: which point is the floor, and which files are refused.
#include "sim/host_check.h"

#include <gtest/gtest.h>

#include <string>

namespace roost::sim {
namespace {

std::string point(const char* name, const char* standing, double measured, double predicted) {
  return std::string("[[point]]\nname = \"") + name + "\"\nstanding = \"" + standing +
         "\"\nmeasured_ns = " + std::to_string(measured) +
         "\npredicted_ns = " + std::to_string(predicted) + "\n";
}

const std::string kHead = "machine = \"a machine\"\ndate = \"a day\"\n";

HostCheck check_of(const std::string& points) {
  auto outcome = parse_host_check(kHead + points);
  EXPECT_TRUE(outcome.config.has_value());
  return *std::move(outcome.config);
}

TEST(HostCheck, the_worst_is_as_far_from_1_by_how_many_times_either_way) {
  // 1.5 is nearer than 0.6, of which the inverse is 1.67; and 0.6 is nearer than 1.7.
  const std::string few =
      point("above", "independent", 10, 15) + point("below", "after a trial", 10, 6);
  const HostCheck two = check_of(few);
  ASSERT_NE(two.worst(), nullptr);
  EXPECT_EQ(two.worst()->name, "below");
  EXPECT_DOUBLE_EQ(two.worst()->ratio(), 0.6);
  EXPECT_EQ(check_of(few + point("far above", "independent", 10, 17)).worst()->name, "far above");
  EXPECT_EQ(two.machine, "a machine");
  EXPECT_EQ(two.date, "a day");
}

TEST(HostCheck, a_point_that_finds_a_number_is_no_floor) {
  const std::string found = point("found", "finds l2.hit_cycles", 10, 30);
  EXPECT_EQ(check_of(found).worst(), nullptr);
  EXPECT_EQ(check_of(found + point("other", "independent", 10, 11)).worst()->name, "other");
}

TEST(HostCheck, without_points_there_is_no_floor) {
  EXPECT_EQ(check_of("point = []\n").worst(), nullptr);
}

TEST(HostCheck, what_is_wrong_is_refused_with_its_line) {
  const auto line_of_fault = [](const std::string& text) {
    const auto outcome = parse_host_check(text);
    EXPECT_FALSE(outcome.config.has_value());
    EXPECT_EQ(outcome.faults.size(), 1U);
    return outcome.faults.empty() ? 0 : outcome.faults.front().line;
  };
  EXPECT_EQ(line_of_fault(kHead + point("one", "independent", 0, 1)), 6U);
  EXPECT_EQ(line_of_fault(kHead + point("one", "independent", 1, -1)), 7U);
  EXPECT_EQ(line_of_fault(kHead + point("one", "independent", 1, 1) + "more = 1\n"), 8U);
  EXPECT_EQ(line_of_fault("date = \"a day\"\npoint = []\n"), 1U);
  EXPECT_EQ(line_of_fault(kHead + "point = [1]\n"), 3U);
}

TEST(HostCheck, the_kept_one_has_all_points_of_a_check) {
  size_t finds = 0;
  for (const HostPoint& one : host_check().points) finds += one.finds_a_number() ? 1U : 0U;
  EXPECT_EQ(host_check().points.size(), 24U);
  EXPECT_EQ(finds, 6U);
}

}  // namespace
}  // namespace roost::sim
