// Captures merged by timestamp, against a naive model; and what happens when a device delivers less
// than its file holds.
#include "roost/io/capture_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "roost/capture/summary.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

constexpr uint64_t kTickUs = 1000;

struct Batch {
  uint64_t tick = 0;
  std::vector<uint32_t> frames;  // by number

  bool operator==(const Batch&) const = default;
};

// The merge, written the obvious way: one packet at a time from whole files.
std::vector<Batch> model_batches(const std::vector<std::vector<Frame>>& captures) {
  std::vector<size_t> heads(captures.size(), 0);
  std::vector<Batch> batches;
  uint64_t now_us = 0;
  for (;;) {
    size_t chosen = captures.size();
    for (size_t port = 0; port < captures.size(); ++port) {
      if (heads[port] == captures[port].size()) continue;
      if (chosen == captures.size() ||
          captures[port][heads[port]].timestamp_us < captures[chosen][heads[chosen]].timestamp_us) {
        chosen = port;
      }
    }
    if (chosen == captures.size()) return batches;
    const Frame& frame = captures[chosen][heads[chosen]++];
    now_us = std::max(now_us, frame.timestamp_us);
    const uint64_t tick = now_us / kTickUs;
    if (batches.empty() || batches.back().tick != tick ||
        batches.back().frames.size() == net::kBatchLanesMax) {
      batches.push_back({.tick = tick, .frames = {}});
    }
    batches.back().frames.push_back(frame_number(frame.bytes.data()));
  }
}

std::vector<Batch> merged_batches(CaptureMerge& merge) {
  std::vector<Batch> batches;
  PacketBurst burst;
  while (const std::optional<Tick> tick = merge.next(burst)) {
    batches.push_back({.tick = tick->count, .frames = {}});
    for (const net::Packet& packet : burst.batch().packets())
      batches.back().frames.push_back(frame_number(packet.data));
    burst.clear();
  }
  return batches;
}

class CaptureMergeTest : public testing::Test {
 protected:
  std::string add_capture(const std::vector<Frame>& frames) {
    std::string path = directory_.file(std::to_string(devices_.size()) + ".pcap");
    write_capture(path, frames);
    devices_.push_back("net_pcap" + std::to_string(devices_.size()) + ",rx_pcap=" + path);
    return path;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> devices_;
};

TEST_F(CaptureMergeTest,
       captures_come_in_timestamp_order_ties_by_port_and_never_two_ticks_in_a_batch) {
  std::mt19937 random(7);
  std::vector<std::vector<Frame>> captures(3);
  uint32_t number = 0;
  for (std::vector<Frame>& frames : captures) {
    uint64_t time_us = 1'700'000'000'000'000;
    for (int i = 0; i < 500; ++i) {
      // Many ties within and across files, some ticks of many packets, some long gaps, some steps
      // back.
      const auto step = random() % 100;
      if (step >= 96) {
        time_us -= random() % 60;
      } else if (step >= 90) {
        time_us += 5 * kTickUs;
      } else if (step >= 40) {
        time_us += random() % 40;
      }
      frames.push_back({time_us, numbered_frame(number++, 60 + random() % 200)});
    }
    add_capture(frames);
  }
  PortRun run(devices_);
  CaptureMerge merge = run.merge({500, 500, 500}, kTickUs);
  const std::vector<Batch> expected = model_batches(captures);
  const std::vector<Batch> merged = merged_batches(merge);
  ASSERT_EQ(merged.size(), expected.size());
  for (size_t i = 0; i < merged.size(); ++i) {
    ASSERT_EQ(merged[i].tick, expected[i].tick) << "batch " << i;
    ASSERT_EQ(merged[i].frames, expected[i].frames) << "batch " << i;
  }
  for (size_t source = 0; source < 3; ++source) {
    EXPECT_TRUE(merge.report(source).has_ended);
    EXPECT_EQ(merge.report(source).delivered, 500u);
    EXPECT_EQ(merge.report(source).lost + merge.report(source).missing, 0u);
  }
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(CaptureMergeTest, a_batch_ends_with_its_tick_even_when_it_has_room) {
  add_capture({{1999, numbered_frame(0, 60)},
               {2000, numbered_frame(1, 60)},
               {2999, numbered_frame(2, 60)}});
  add_capture({{1000, numbered_frame(3, 60)},
               {2000, numbered_frame(4, 60)},
               {3000, numbered_frame(5, 60)}});
  PortRun run(devices_);
  CaptureMerge merge = run.merge({3, 3}, kTickUs);
  const std::vector<Batch> expected = {{1, {3, 0}}, {2, {1, 4, 2}}, {3, {5}}};
  EXPECT_EQ(merged_batches(merge), expected);
}

TEST_F(CaptureMergeTest, time_never_runs_backwards) {
  add_capture({{5000, numbered_frame(0, 60)},
               {1000, numbered_frame(1, 60)},
               {6000, numbered_frame(2, 60)}});
  PortRun run(devices_);
  CaptureMerge merge = run.merge({3}, kTickUs);
  const std::vector<Batch> expected = {{5, {0, 1}}, {6, {2}}};
  EXPECT_EQ(merged_batches(merge), expected);
}

TEST_F(CaptureMergeTest, an_empty_capture_ends_at_once_and_holds_nobody_up) {
  add_capture({});
  add_capture({{1000, numbered_frame(0, 60)}});
  PortRun run(devices_);
  CaptureMerge merge = run.merge({0, 1}, kTickUs);
  const std::vector<Batch> expected = {{1, {0}}};
  EXPECT_EQ(merged_batches(merge), expected);
  EXPECT_TRUE(merge.report(0).has_ended);
  PacketBurst burst;
  EXPECT_FALSE(merge.next(burst).has_value());
}

TEST_F(CaptureMergeTest, a_cut_capture_gives_its_whole_packets_and_ends_without_an_error) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 100; ++i) frames.push_back({1000 + i, numbered_frame(i, 60)});
  const std::string path = add_capture(frames);
  cut_file(path, 10);
  const capture::Summary summary = capture::summarize(path).value();
  ASSERT_EQ(summary.packet_count, 99u);
  PortRun run(devices_);
  CaptureMerge merge = run.merge({summary.packet_count}, kTickUs);
  uint64_t packets = 0;
  for (const Batch& batch : merged_batches(merge)) packets += batch.frames.size();
  EXPECT_EQ(packets, 99u);
  EXPECT_EQ(merge.report(0).delivered, 99u);
  EXPECT_EQ(merge.report(0).lost, 0u);
  EXPECT_EQ(run.ports()[0].read_device_counters().receive_errors, 0u);
}

TEST_F(CaptureMergeTest,
       a_file_with_fewer_packets_than_were_counted_ends_and_says_how_many_are_missing) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 100; ++i) frames.push_back({1000 + i, numbered_frame(i, 60)});
  add_capture(frames);
  cut_file(add_capture(frames), 10);
  PortRun run(devices_);
  CaptureMerge merge = run.merge({150, 150}, kTickUs);
  uint64_t packets = 0;
  for (const Batch& batch : merged_batches(merge)) packets += batch.frames.size();
  EXPECT_EQ(packets, 199u);
  EXPECT_EQ(merge.report(0).delivered, 100u);
  EXPECT_EQ(merge.report(0).missing, 50u);
  EXPECT_EQ(merge.report(1).delivered, 99u);
  // Each read past a cut is an error that the device cannot tell from a lost packet.
  EXPECT_EQ(merge.report(1).lost + merge.report(1).missing, 51u);
  EXPECT_TRUE(merge.report(0).has_ended && merge.report(1).has_ended);
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(CaptureMergeTest, an_exhausted_pool_loses_packets_by_count_and_never_hangs) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 300; ++i)
    frames.push_back({1000 + i, numbered_frame(i, i % 3 == 0 ? 9000 : 60)});
  add_capture(frames);
  add_capture(frames);
  PortRun run(devices_, {.buffer_count = 20, .data_room_bytes = 2048});
  CaptureMerge merge = run.merge({300, 300}, kTickUs);
  uint64_t packets = 0;
  for (const Batch& batch : merged_batches(merge)) packets += batch.frames.size();
  const CaptureMerge::SourceReport first = merge.report(0);
  const CaptureMerge::SourceReport second = merge.report(1);
  EXPECT_EQ(packets, first.delivered + second.delivered);
  EXPECT_EQ(first.delivered + first.lost, 300u);
  EXPECT_EQ(second.delivered + second.lost, 300u);
  EXPECT_GT(first.lost + second.lost, 0u);
  EXPECT_EQ(first.missing + second.missing, 0u);
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(CaptureMergeTest, what_the_merge_still_holds_is_freed_with_it_and_not_counted_as_received) {
  std::vector<Frame> frames;
  for (uint32_t i = 0; i < 100; ++i) frames.push_back({uint64_t{1000} * i, numbered_frame(i, 60)});
  add_capture(frames);
  PortRun run(devices_);
  {
    CaptureMerge merge = run.merge({100}, kTickUs);
    PacketBurst burst;
    ASSERT_TRUE(merge.next(burst));
    EXPECT_EQ(burst.batch().lane_count(), 1u);
    EXPECT_GT(run.pool().in_use_count(), 1u);
  }
  EXPECT_EQ(run.ports()[0].counters().received, 1u);
  EXPECT_TRUE(run.pool().audit());
}

TEST(CaptureMergeWithoutCaptures, devices_that_do_not_stamp_packets_are_refused) {
  PortRun run({"net_null0"});
  const std::vector<CaptureMerge::Source> sources = {{&run.ports()[0], 10}};
  const Result<CaptureMerge> merge = CaptureMerge::create(sources, kTickUs);
  ASSERT_FALSE(merge.ok());
  EXPECT_NE(merge.error().message.find("net_pcap devices with rx_pcap"), std::string::npos);
}

}  // namespace
}  // namespace roost::io
