// Packets handed from worker to worker: each arrives once, in order, or is counted as refused.
#include "roost/io/handoff.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "roost/io/lcores.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::io {
namespace {

constexpr uint32_t kEndlessFrames = 1'000;

class HandoffTest : public testing::Test {
 protected:
  // A device whose frames have the numbers 0 to kEndlessFrames - 1, again and again.
  std::string endless() {
    std::vector<Frame> frames;
    for (uint32_t i = 0; i < kEndlessFrames; ++i)
      frames.push_back({kSecond, numbered_frame(i, 60)});
    write_capture(directory_.file("in.pcap"), frames);
    return "net_pcap0,infinite_rx=1,rx_pcap=" + directory_.file("in.pcap");
  }

  TemporaryDirectory directory_;
};

// Receives some and hands all of it to another worker.
void give_all(Port& port, HandoffQueues& queues, PacketBurst& burst, size_t taker, size_t count) {
  if (burst.batch().is_empty()) port.queue(queues.worker()).receive(burst, count);
  for (net::LaneVerdict& verdict : burst.batch().verdicts())
    verdict = net::LaneVerdict::handoff(taker);
  queues.enqueue(burst);
  burst.clear();
}

TEST_F(HandoffTest, a_full_ring_refuses_and_the_refused_are_freed_and_counted) {
  PortRun run({endless()}, {}, 2);
  Handoff handoff = Handoff::create({.worker_count = 2, .packets_max = 40}).value();
  const uint32_t in_use_before = run.pool().in_use_count();
  PacketBurst burst;
  for (int i = 0; i < 2; ++i) give_all(run.ports()[0], handoff.queues(0), burst, 1, 32);
  EXPECT_EQ(handoff.queues(0).counters().handoff_out, 40u);
  EXPECT_EQ(handoff.queues(0).counters().handoff_full, 24u);
  EXPECT_EQ(run.pool().in_use_count(), in_use_before + 40);
  EXPECT_EQ(handoff.queues(1).dequeue(burst), 32u);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const net::Packet& packet = burst.batch().packets()[lane];
    EXPECT_EQ(frame_number(packet.data), lane);
    EXPECT_EQ(packet.origin, net::PacketOrigin::kWorker);
    EXPECT_EQ(packet.in_port, 0u);
  }
  burst.clear();
  EXPECT_EQ(handoff.queues(1).dequeue(burst), 8u);
  EXPECT_EQ(handoff.queues(1).counters().handoff_in, 40u);
  burst.clear();
  EXPECT_EQ(run.pool().in_use_count(), in_use_before);
}

TEST_F(HandoffTest, what_rings_still_hold_is_freed_with_them) {
  PortRun run({endless()}, {}, 2);
  const uint32_t in_use_before = run.pool().in_use_count();
  {
    Handoff handoff = Handoff::create({.worker_count = 2}).value();
    PacketBurst burst;
    give_all(run.ports()[0], handoff.queues(0), burst, 1, 32);
    EXPECT_EQ(run.pool().in_use_count(), in_use_before + 32);
  }
  EXPECT_EQ(run.pool().in_use_count(), in_use_before);
}

TEST_F(HandoffTest, every_other_worker_gets_a_copy_and_the_lane_stays) {
  PortRun run({endless()}, {}, 2);
  Handoff handoff = Handoff::create({.worker_count = 3, .copies_max = 2}).value();
  PacketBurst burst;
  run.ports()[0].queue(0).receive(burst, 3);
  for (size_t lane = 0; lane < 3; ++lane) handoff.queues(0).copy(burst, lane);
  EXPECT_EQ(burst.batch().lane_count(), 3u);
  EXPECT_EQ(handoff.queues(0).counters().copies_out, 4u);
  EXPECT_EQ(handoff.queues(0).counters().copies_lost, 2u);
  burst.batch().packets()[0].data[0] = 0xff;  // a copy has bytes of its own
  for (const size_t worker : {size_t{1}, size_t{2}}) {
    PacketBurst taken;
    EXPECT_EQ(handoff.queues(worker).dequeue(taken), 2u);
    for (uint32_t lane = 0; lane < taken.batch().lane_count(); ++lane) {
      EXPECT_EQ(frame_number(taken.batch().packets()[lane].data), lane);
      EXPECT_EQ(taken.batch().packets()[lane].origin, net::PacketOrigin::kCopy);
    }
    EXPECT_EQ(handoff.queues(worker).counters().copies_in, 2u);
    EXPECT_EQ(handoff.queues(worker).counters().handoff_in, 0u);
  }
  PacketBurst taken;
  EXPECT_EQ(handoff.queues(0).dequeue(taken), 0u);
}

// Numbers the frames of a batch on from `next`.
void number(net::PacketBatch& batch, uint32_t& next) {
  for (net::Packet& packet : batch.packets()) {
    std::memcpy(packet.data, &next, sizeof next);
    ++next;
  }
}

TEST_F(HandoffTest, two_workers_hand_each_other_everything_in_order_and_close_without_loss) {
  constexpr uint32_t kRounds = 20'000;
  PortRun run({endless() + ",rx_pcap=" + directory_.file("in.pcap")},
              {.buffer_count = 16'384, .data_room_bytes = 256}, 2);
  Handoff handoff = Handoff::create({.worker_count = 2, .packets_max = 256}).value();
  std::array<uint64_t, 2> taken{};
  std::array<uint64_t, 2> disorder_count{};
  const uint32_t in_use_before = run.pool().in_use_count();
  run_on_lcores(2, [&](size_t worker) {
    HandoffQueues& queues = handoff.queues(worker);
    PacketBurst burst;
    uint32_t given = 1;
    uint32_t last = 0;
    const auto take = [&] {
      const size_t count = queues.dequeue(burst);
      taken[worker] += count;
      for (const net::Packet& packet : burst.batch().packets()) {
        const uint32_t number = frame_number(packet.data);
        if (number <= last) ++disorder_count[worker];
        last = number;
      }
      burst.clear();
      return count;
    };
    for (uint32_t round = 0; round < kRounds; ++round) {
      run.ports()[0].queue(worker).receive(burst, 8);
      number(burst.batch(), given);
      give_all(run.ports()[0], queues, burst, 1 - worker, 8);
      take();
    }
    queues.close();
    while (take() != 0) continue;
  });
  for (const size_t worker : {size_t{0}, size_t{1}}) {
    const HandoffCounters& producer = handoff.queues(1 - worker).counters();
    EXPECT_EQ(producer.handoff_out + producer.handoff_full, uint64_t{8} * kRounds);
    EXPECT_EQ(handoff.queues(worker).counters().handoff_in, producer.handoff_out);
    EXPECT_EQ(taken[worker], producer.handoff_out);
    EXPECT_GT(producer.handoff_out, 0u);
    EXPECT_EQ(disorder_count[worker], 0u);
  }
  EXPECT_EQ(run.pool().in_use_count(), in_use_before);
}

}  // namespace
}  // namespace roost::io
