// Ports shared by two workers: as many queues as the device has, every packet by one of them.
#include "roost/io/port_queue.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "roost/io/frame_burst.h"
#include "roost/io/lcores.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

class PortQueueTest : public testing::Test {
 protected:
  // A capture of frames numbered from `first` on.
  std::string capture(const std::string& name, uint32_t first, uint32_t count) {
    std::vector<Frame> frames;
    for (uint32_t i = 0; i < count; ++i) frames.push_back({kSecond, numbered_frame(first + i, 60)});
    write_capture(directory_.file(name), frames);
    return directory_.file(name);
  }

  TemporaryDirectory directory_;
};

// The numbers of the next frames that a queue receives, until `poll_count` polls are over.
std::set<uint32_t> receive_numbers(PortQueue& queue, size_t poll_count) {
  std::set<uint32_t> numbers;
  PacketBurst burst;
  for (size_t i = 0; i < poll_count; ++i) {
    queue.receive(burst, net::kBatchLanesMax);
    for (const net::Packet& packet : burst.batch().packets())
      numbers.insert(frame_number(packet.data));
    burst.clear();
  }
  return numbers;
}

TEST_F(PortQueueTest, each_worker_has_queues_of_its_own_where_the_device_has_them) {
  const std::string in = capture("in.pcap", 0, 10);
  PortRun run({"net_ring0", "net_pcap0,infinite_rx=1,rx_pcap=" + in}, {}, 2);
  Port& ring = run.ports()[0];
  EXPECT_EQ(ring.receive_queue_count(), 2u);
  EXPECT_EQ(ring.transmit_queue_count(), 2u);
  // A net_ring gives back by receive queue i what was sent by transmit queue i.
  PacketBurst burst;
  run.ports()[1].queue(1).receive(burst, 10);
  for (net::LaneVerdict& verdict : burst.batch().verdicts()) verdict = net::LaneVerdict::forward(0);
  ring.queue(1).transmit(burst);
  burst.clear();
  EXPECT_EQ(receive_numbers(ring.queue(0), 2).size(), 0u);
  EXPECT_EQ(receive_numbers(ring.queue(1), 2).size(), 10u);
  EXPECT_EQ(ring.queue(0).counters().sent, 0u);
  EXPECT_EQ(ring.queue(1).counters().sent, 10u);
  EXPECT_EQ(ring.queue(1).counters().received, 10u);
  EXPECT_EQ(ring.counters().received, 10u);
}

TEST_F(PortQueueTest, a_worker_sends_by_the_queue_that_it_receives_by_whatever_the_port) {
  const std::string in = capture("in.pcap", 0, 10);
  PortRun run({"net_pcap0,infinite_rx=1,rx_pcap=" + in, "net_ring0"}, {}, 2);
  Port& ring = run.ports()[1];
  ASSERT_EQ(ring.transmit_queue_count(), 2u);
  for (const size_t worker : {size_t{0}, size_t{1}}) {
    PacketBurst burst;
    run.ports()[0].queue(0).receive(burst, 10);
    for (net::LaneVerdict& verdict : burst.batch().verdicts()) {
      verdict = net::LaneVerdict::forward(1);
    }
    ring.queue(worker).transmit(burst);
    burst.clear();
    EXPECT_EQ(receive_numbers(ring.queue(1 - worker), 2).size(), 0u) << worker;
    EXPECT_EQ(receive_numbers(ring.queue(worker), 2).size(), 10u) << worker;
  }
}

TEST_F(PortQueueTest, every_queue_that_a_device_spreads_over_is_polled_whatever_the_workers) {
  const std::string devices = "net_pcap0,infinite_rx=1,rx_pcap=" + capture("a.pcap", 0, 8) +
                              ",rx_pcap=" + capture("b.pcap", 8, 8) +
                              ",rx_pcap=" + capture("c.pcap", 16, 8);
  PortRun run({devices}, {}, 2);
  Port& port = run.ports()[0];
  EXPECT_EQ(port.receive_queue_count(), 3u);
  const std::set<uint32_t> first = receive_numbers(port.queue(0), 4);
  const std::set<uint32_t> second = receive_numbers(port.queue(1), 4);
  EXPECT_EQ(first.size(), 16u);  // of the first and the third capture
  EXPECT_EQ(second.size(), 8u);
  EXPECT_EQ(*second.begin(), 8u);
}

TEST_F(PortQueueTest, one_worker_polls_all_queues_of_such_a_device) {
  const std::string devices = "net_pcap0,infinite_rx=1,rx_pcap=" + capture("a.pcap", 0, 8) +
                              ",rx_pcap=" + capture("b.pcap", 8, 8);
  PortRun run({devices});
  EXPECT_EQ(receive_numbers(run.ports()[0].queue(), 4).size(), 16u);
}

TEST_F(PortQueueTest, ports_with_one_queue_are_spread_over_the_workers) {
  const std::string a = capture("a.pcap", 0, 8);
  PortRun run({"net_pcap0,infinite_rx=1,rx_pcap=" + a, "net_pcap1,infinite_rx=1,rx_pcap=" + a}, {},
              2);
  EXPECT_TRUE(run.ports()[0].queue(0).can_receive());
  EXPECT_FALSE(run.ports()[0].queue(1).can_receive());
  EXPECT_FALSE(run.ports()[1].queue(0).can_receive());
  EXPECT_TRUE(run.ports()[1].queue(1).can_receive());
  PacketBurst burst;
  EXPECT_EQ(run.ports()[0].queue(1).receive(burst, net::kBatchLanesMax), 0u);
}

TEST_F(PortQueueTest, two_workers_share_a_transmit_queue_and_lose_nothing) {
  constexpr uint32_t kRounds = 4'000;
  constexpr uint32_t kFrames = 16;
  const std::string out = directory_.file("out.pcap");
  const std::string devices = "net_pcap0,infinite_rx=1,rx_pcap=" + capture("a.pcap", 0, kFrames) +
                              ",rx_pcap=" + capture("b.pcap", kFrames, kFrames);
  PortRun run({devices, "net_pcap1,tx_pcap=" + out}, {}, 2);
  ASSERT_EQ(run.ports()[1].transmit_queue_count(), 1u);
  run_on_lcores(2, [&](size_t worker) {
    PacketBurst burst;
    for (uint32_t round = 0; round < kRounds; ++round) {
      run.ports()[0].queue(worker).receive(burst, kFrames);
      for (net::LaneVerdict& verdict : burst.batch().verdicts())
        verdict = net::LaneVerdict::forward(1);
      run.ports()[1].queue(worker).transmit(burst);
      burst.clear();
    }
  });
  for (const size_t worker : {size_t{0}, size_t{1}})
    EXPECT_EQ(run.ports()[1].queue(worker).counters().sent, kRounds * kFrames);
  EXPECT_EQ(run.ports()[1].counters().sent, size_t{2} * kRounds * kFrames);
  run.close_ports();
  std::vector<uint32_t> seen(size_t{2} * kFrames);
  for (const Frame& frame : read_capture(out)) {
    const uint32_t number = frame_number(frame.bytes.data());
    ASSERT_LT(number, seen.size());
    ASSERT_EQ(frame.bytes, numbered_frame(number, 60));
    ++seen[number];
  }
  EXPECT_EQ(seen, std::vector<uint32_t>(size_t{2} * kFrames, kRounds));
}

TEST_F(PortQueueTest, frames_made_here_are_sent_refused_and_freed) {
  PortRun run({"net_ring0"});
  PortQueue& queue = run.ports()[0].queue();
  uint32_t made = 0;
  {
    FrameBurst burst(run.pool());
    for (size_t round = 0; round < 100; ++round) {
      std::set<uint32_t> expected;
      for (size_t frame = 0; frame < 1 + round % FrameBurst::kFramesMax; ++frame) {
        const std::vector<uint8_t> bytes = numbered_frame(made, 60 + round);
        const std::span<uint8_t> room = burst.append(bytes.size());
        ASSERT_EQ(room.size(), bytes.size());
        std::ranges::copy(bytes, room.begin());
        expected.insert(made++);
      }
      ASSERT_EQ(queue.send(burst), expected.size());
      ASSERT_EQ(burst.count(), 0u);
      ASSERT_EQ(receive_numbers(queue, 2), expected);
      ASSERT_LE(run.pool().in_use_count(), FrameBurst::kFramesMax) << "those that the burst holds";
    }
    EXPECT_EQ(queue.counters().sent, made);
    uint64_t sent = 0;
    for (size_t round = 0; round < 40; ++round) {
      while (!burst.is_full()) ASSERT_FALSE(burst.append(60).empty());
      sent += queue.send(burst);
    }
    EXPECT_EQ(sent, kRingRoom);
    EXPECT_EQ(queue.counters().refused, 40 * FrameBurst::kFramesMax - kRingRoom);
    static_cast<void>(receive_numbers(queue, 40));
  }
  EXPECT_EQ(run.pool().in_use_count(), 0u);
}

TEST_F(PortQueueTest, a_pool_without_buffers_gives_frames_no_room) {
  PortRun run({"net_ring0"}, {.buffer_count = 255});
  std::vector<std::unique_ptr<FrameBurst>> bursts;
  size_t frames = 0;
  while (frames < 1'000) {
    if (bursts.empty() || bursts.back()->is_full())
      bursts.push_back(std::make_unique<FrameBurst>(run.pool()));
    if (bursts.back()->append(60).empty()) break;
    ++frames;
  }
  EXPECT_GT(frames, 128u);
  EXPECT_LE(frames, 255u);
  bursts.clear();
  EXPECT_EQ(run.pool().in_use_count(), 0u);
}

TEST_F(PortQueueTest, a_link_is_up_or_down_as_the_device_says) {
  PortRun run({"net_ring0"});
  const Port& ring = run.ports()[0];
  EXPECT_TRUE(ring.is_link_up());
  ASSERT_EQ(rte_eth_dev_set_link_down(0), 0);
  EXPECT_FALSE(ring.is_link_up());
  ASSERT_EQ(rte_eth_dev_set_link_up(0), 0);
  EXPECT_TRUE(ring.is_link_up());
}

}  // namespace
}  // namespace roost::io
