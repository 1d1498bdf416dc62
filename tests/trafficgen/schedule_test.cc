// When packets are due: at a step's rate, or when the stream says so.
#include "apps/trafficgen/datapath/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace roost::trafficgen {
namespace {

traffic::ConnectionStream::Config stream() {
  traffic::ConnectionStream::Config config;
  config.profile = traffic::kCampusLike;
  config.profile.flows = 50'000;
  config.profile.seconds = 10;
  config.profile.length.mean = 20;
  return config;
}

TEST(Schedule, paces_packets_in_a_step_with_a_rate) {
  const std::array<StepConfig, 2> steps = {{{1, 10'000}, {0.5, 80'000}}};
  Schedule schedule = Schedule::create(stream(), steps).value();
  std::array<uint64_t, 2> counts{};
  uint64_t last = 0;
  uint32_t last_step = 0;
  while (const DuePacket* due = schedule.peek(UINT64_MAX)) {
    if (due->step == last_step && last > 0) {
      ASSERT_NEAR(static_cast<double>(due->nanoseconds - last), due->step == 0 ? 100'000 : 12'500,
                  1);
    }
    last = due->nanoseconds;
    last_step = due->step;
    ++counts[due->step];
    schedule.pop();
  }
  EXPECT_EQ(counts[0], 10'000U);
  EXPECT_EQ(counts[1], 40'000U);
  EXPECT_TRUE(schedule.is_over());
  EXPECT_FALSE(schedule.ended_early());
}

// More packets than are kept ready, made ahead at some moments and not at others.
TEST(Schedule, follows_the_stream_in_a_step_without_a_rate) {
  const std::array<StepConfig, 1> steps = {{{4, {}}}};
  for (const uint64_t distance : {UINT64_MAX, uint64_t{1}, uint64_t{100'000}}) {
    SCOPED_TRACE(distance);
    Schedule schedule = Schedule::create(stream(), steps).value();
    auto same = traffic::ConnectionStream::create(stream()).value();
    std::array<traffic::StreamPacket, 1> packet;
    ASSERT_EQ(same.next(packet), 1U);
    const uint64_t begin = packet[0].nanoseconds;
    uint64_t count = 0;
    while (const DuePacket* due = schedule.peek(UINT64_MAX)) {
      ASSERT_EQ(due->packet.flow, packet[0].flow);
      ASSERT_EQ(due->packet.number, packet[0].number);
      ASSERT_EQ(due->nanoseconds, packet[0].nanoseconds - begin);
      ASSERT_LT(due->nanoseconds, 4'000'000'000U);
      schedule.pop();
      ++count;
      if (count % distance == 0) schedule.make_ahead();
      ASSERT_EQ(same.next(packet), 1U);
    }
    EXPECT_GE(packet[0].nanoseconds - begin, 4'000'000'000U);
    EXPECT_GT(count, 250'000U);
  }
}

TEST(Schedule, sends_what_is_due_within_a_burst_together_and_no_packet_more_or_less) {
  for (const std::optional<double> rate :
       {std::optional<double>(80'000), std::optional<double>()}) {
    const std::array<StepConfig, 2> single = {{{0.5, rate}, {0.5, rate}}};
    const std::array<StepConfig, 2> bursts = {{{0.5, rate, 1'000}, {0.5, rate, 300}}};
    Schedule each = Schedule::create(stream(), single).value();
    Schedule together = Schedule::create(stream(), bursts).value();
    uint64_t count = 0;
    while (const DuePacket* due = each.peek(UINT64_MAX)) {
      const DuePacket* early = together.peek(UINT64_MAX);
      ASSERT_NE(early, nullptr);
      ASSERT_EQ(early->packet.flow, due->packet.flow);
      ASSERT_EQ(early->step, due->step);
      const uint64_t begin = due->step * uint64_t{500'000'000};
      const uint64_t burst = due->step == 0 ? 1'000'000 : 300'000;
      ASSERT_EQ(early->nanoseconds, begin + (due->nanoseconds - begin) / burst * burst);
      each.pop();
      together.pop();
      ++count;
    }
    EXPECT_TRUE(together.is_over());
    EXPECT_GT(count, 40'000U);
  }
}

TEST(Schedule, gives_nothing_before_it_is_due) {
  const std::array<StepConfig, 1> steps = {{{1, 1'000}}};
  Schedule schedule = Schedule::create(stream(), steps).value();
  ASSERT_NE(schedule.peek(0), nullptr);
  schedule.pop();
  EXPECT_EQ(schedule.peek(999'999), nullptr);
  EXPECT_NE(schedule.peek(1'000'000), nullptr);
}

TEST(Schedule, says_that_the_connections_were_over) {
  traffic::ConnectionStream::Config few = stream();
  few.profile.flows = 10;
  const std::array<StepConfig, 1> steps = {{{100, 1'000}}};
  Schedule schedule = Schedule::create(few, steps).value();
  while (schedule.peek(UINT64_MAX) != nullptr) schedule.pop();
  EXPECT_TRUE(schedule.ended_early());
}

TEST(Schedule, goes_on_with_steps_that_are_added) {
  const std::array<StepConfig, 1> steps = {{{0.1, 1'000}}};
  Schedule schedule = Schedule::create(stream(), steps).value();
  while (schedule.peek(UINT64_MAX) != nullptr) schedule.pop();
  EXPECT_TRUE(schedule.is_over());
  schedule.add_step({0.1, 2'000}, 5'000'000'000);
  ASSERT_FALSE(schedule.is_over());
  uint64_t count = 0;
  for (; const DuePacket* due = schedule.peek(UINT64_MAX); schedule.pop()) {
    ASSERT_EQ(due->step, 1U);
    ASSERT_GE(due->nanoseconds, 5'000'000'000U);
    ++count;
  }
  EXPECT_EQ(count, 200U);
}

}  // namespace
}  // namespace roost::trafficgen
