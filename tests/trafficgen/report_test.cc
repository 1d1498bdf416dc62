// What a run's report says, and the search for a rate.
#include "apps/trafficgen/control/report.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "apps/trafficgen/control/rate_search.h"
#include "roost/control/json.h"

namespace roost::trafficgen {
namespace {

Report report_of(const PacketCounts& counts, uint64_t sent_by_ports = 980) {
  Report report{
      .sent_by_ports = sent_by_ports, .step_seconds = {1}, .seconds = 1, .late_share_max = 0.001};
  const uint32_t slice = report.stats.slice_of(0, 0);
  report.stats.counts_of(slice) = counts;
  for (uint64_t i = 0; i < counts.returned; ++i) report.stats.add_time(slice, 1'000 * i);
  return report;
}

constexpr PacketCounts kGood = {.offered = 1'000,
                                .refused = 15,
                                .unanswerable = 5,
                                .returned = 970,
                                .lost_to_backends = 7,
                                .lost_to_clients = 3};

TEST(TrafficgenReport, says_the_same_as_text_and_as_json) {
  const Report report = report_of(kGood);
  EXPECT_TRUE(broken_sums(report).empty());
  const auto json = control::Json::parse(format_json(report));
  EXPECT_EQ(json["verdict"], "valid");
  EXPECT_EQ(json["total"]["offered"], 1'000);
  EXPECT_EQ(json["total"]["loss"], 0.03);
  EXPECT_NEAR(json["total"]["latency_microseconds"]["p50"].get<double>(), 485, 5);
  EXPECT_EQ(json["total"]["latency_microseconds"]["max"], 969);
  EXPECT_EQ(json["by_second"].size(), 1U);
  EXPECT_NE(format_text(report).find("lost_to_clients                   3"), std::string::npos);
}

TEST(TrafficgenReport, gives_no_verdict_when_it_was_late) {
  PacketCounts late = kGood;
  late.late = 2;
  const Report report = report_of(late);
  EXPECT_FALSE(report.is_valid());
  EXPECT_EQ(control::Json::parse(format_json(report))["verdict"],
            "no verdict: the generator was late for 0.20 % of its packets (at most 0.1 %)");
}

TEST(TrafficgenReport, names_sums_that_do_not_hold) {
  EXPECT_FALSE(broken_sums(report_of(kGood, 979)).empty());
  for (uint64_t PacketCounts::*member : {&PacketCounts::offered, &PacketCounts::refused,
                                         &PacketCounts::returned, &PacketCounts::lost_to_clients}) {
    PacketCounts wrong = kGood;
    ++(wrong.*member);
    EXPECT_FALSE(broken_sums(report_of(wrong)).empty());
  }
}

// Times are kept by second and step, whenever packets arrive.
TEST(PacketStats, adds_up_by_step_and_by_second) {
  PacketStats stats;
  std::vector<uint32_t> slices;
  for (uint64_t packet = 0; packet < 400; ++packet) {
    slices.push_back(stats.slice_of(packet * 50'000'000, packet < 150 ? 0 : 1));
    ++stats.counts_of(slices.back()).offered;
  }
  EXPECT_EQ(slices.back(), 20U) << "twenty seconds, and one of them is of two steps";
  for (const uint32_t slice : slices) {
    ++stats.counts_of(slice).returned;
    stats.add_time(slice, uint64_t{1'000} * (slice + 1));
  }
  EXPECT_EQ(stats.step_count(), 2U);
  EXPECT_EQ(stats.counts_of_step(0).returned, 150U);
  EXPECT_EQ(stats.step(0).nanoseconds.total(), 150U) << "also those that came long after";
  EXPECT_EQ(stats.step(1).nanoseconds.total(), 250U);
  EXPECT_EQ(stats.total().nanoseconds.total(), 400U);
  const auto seconds = stats.seconds();
  ASSERT_EQ(seconds.size(), 20U);
  for (const SecondSummary& second : seconds) EXPECT_EQ(second.counts.returned, 20U);
  EXPECT_NEAR(static_cast<double>(seconds.back().p99), 21'000, 200);
}

TEST(RateSearch, finds_the_rate_by_halves) {
  for (const double limit : {2'000.0, 1e5, 777'777.0, 9.9e6, 2e7}) {
    RateSearch search(1e7);
    double best = 0;
    size_t trials = 0;
    while (!search.is_over()) {
      const double rate = search.next();
      const bool passes = rate <= limit;
      if (passes) best = rate;
      search.note(passes);
      ++trials;
    }
    const double reachable = limit < 1e7 ? limit : 1e7;
    EXPECT_LE(best, reachable);
    EXPECT_GE(best, reachable * 0.98) << limit;
    EXPECT_LE(trials, RateSearch::kTrialsMax);
  }
}

}  // namespace
}  // namespace roost::trafficgen
