// Two worker loops over the same ports: each decides what is its own, wherever it was received, and
// the sums close over both when they have stopped, however full the rings were.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <stop_token>
#include <vector>

#include "roost/io/lcores.h"
#include "roost/node/flow_owner.h"
#include "roost/node/worker_loop.h"
#include "tests/base/step_count.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

constexpr uint32_t kFrames = 1'000;
constexpr net::DropCause kCause{7};

// A frame's number gives its owner: even ones are the first worker's. Of its own a worker drops
// some, consumes some with copies for the others, and sends the rest by port 1.
class OwnByNumber {
 public:
  explicit OwnByNumber(size_t worker) : worker_(worker) {}

  void process(net::PacketBatch& batch, Tick) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const net::Packet& packet = batch.packets()[lane];
      batch.verdicts()[lane] = decide(packet, io::frame_number(packet.data));
    }
  }
  void idle(Tick, uint64_t) {}
  net::Outbox& outbox() { return outbox_; }

  uint64_t copied = 0;  // own packets that the others learn of
  uint64_t learned = 0;
  uint64_t strange = 0;  // packets that never should have come here

 private:
  net::LaneVerdict decide(const net::Packet& packet, uint32_t number) {
    if (packet.origin == net::PacketOrigin::kCopy) {
      ++learned;
      strange += number % 2 == worker_ || number % 10 > 1 ? 1 : 0;
      return net::LaneVerdict::forward(1);  // counts for nothing
    }
    if (number % 2 != worker_) {
      strange += packet.origin == net::PacketOrigin::kWorker ? 1 : 0;
      return net::LaneVerdict::handoff(1 - worker_);
    }
    if (number % 10 <= 1) {
      ++copied;
      return net::LaneVerdict::consume().with_copies();
    }
    return number % 10 <= 3 ? net::LaneVerdict::drop(kCause) : net::LaneVerdict::forward(1);
  }

  size_t worker_;
  net::Outbox outbox_;
};

class TwoWorkers : public testing::Test {
 protected:
  // Runs both workers until each has decided so many packets, with rings of this many.
  void run(uint64_t packet_count, uint32_t ring_packets) {
    std::vector<io::Frame> frames;
    for (uint32_t i = 0; i < kFrames; ++i) frames.push_back({1, io::numbered_frame(i, 60)});
    io::write_capture(directory_.file("in.pcap"), frames);
    const std::string in = ",rx_pcap=" + directory_.file("in.pcap");
    io::PortRun ports({"net_pcap0,infinite_rx=1" + in + in, "net_null0,no-rx=1"},
                      {.buffer_count = 16'384, .data_room_bytes = 256}, 2);
    const uint32_t in_use_before = ports.pool().in_use_count();
    {
      io::Handoff handoff =
          io::Handoff::create({.worker_count = 2, .packets_max = ring_packets, .copies_max = 16})
              .value();
      std::deque<Worker<OwnByNumber>> workers;
      for (size_t worker = 0; worker < 2; ++worker) {
        workers.emplace_back(functions_[worker], ports.ports(),
                             WorkerConfig{.worker = worker, .handoff = &handoff.queues(worker)});
      }
      run_both(workers, packet_count);
      for (size_t worker = 0; worker < 2; ++worker) {
        counters_[worker] = workers[worker].counters();
        handoff_counters_[worker] = handoff.queues(worker).counters();
      }
    }
    received_ = ports.ports()[0].counters().received;
    sent_ = ports.ports()[1].counters().sent;
    EXPECT_EQ(ports.pool().in_use_count(), in_use_before);
  }

  static void run_both(std::deque<Worker<OwnByNumber>>& workers, uint64_t packet_count) {
    std::array<std::stop_source, 2> enough;
    const io::TickClock clock(1.0);
    io::run_on_lcores(2, [&](size_t worker) {
      Worker<OwnByNumber>& own = workers[worker];
      own.run_live(
          clock,
          [&] {
            if (own.counters().packets >= packet_count) enough[worker].request_stop();
            return enough[0].stop_requested() && enough[1].stop_requested();
          },
          [](const WorkerCounters&) {});
    });
  }

  void expect_closed_sums() const {
    uint64_t refused = 0;
    uint64_t dropped = 0;
    uint64_t consumed = 0;
    for (size_t worker = 0; worker < 2; ++worker) {
      refused += handoff_counters_[worker].handoff_full;
      dropped += counters_[worker].drops[kCause];
      consumed += counters_[worker].consumed;
      EXPECT_EQ(handoff_counters_[worker].handoff_out, handoff_counters_[1 - worker].handoff_in);
      EXPECT_EQ(handoff_counters_[worker].copies_out, handoff_counters_[1 - worker].copies_in);
      EXPECT_EQ(functions_[worker].learned, handoff_counters_[worker].copies_in);
      EXPECT_EQ(functions_[worker].copied,
                handoff_counters_[worker].copies_out + handoff_counters_[worker].copies_lost);
      EXPECT_EQ(counters_[worker].consumed, functions_[worker].copied);
      EXPECT_EQ(functions_[worker].strange, 0u);
      EXPECT_GT(handoff_counters_[worker].handoff_in, 0u);
    }
    EXPECT_EQ(received_, sent_ + dropped + consumed + refused);
    EXPECT_EQ(received_, counters_[0].packets + counters_[1].packets + refused);
  }

  io::TemporaryDirectory directory_;
  std::array<OwnByNumber, 2> functions_ = {OwnByNumber(0), OwnByNumber(1)};
  std::array<WorkerCounters, 2> counters_;
  std::array<io::HandoffCounters, 2> handoff_counters_;
  uint64_t received_ = 0;
  uint64_t sent_ = 0;
};

TEST_F(TwoWorkers, every_packet_is_decided_by_its_owner_or_refused_on_the_way) {
  run(step_count(200'000, 5), 1'024);
  expect_closed_sums();
}

TEST_F(TwoWorkers, rings_that_are_too_small_refuse_and_the_sums_close_all_the_same) {
  run(step_count(100'000, 5), 8);
  expect_closed_sums();
  EXPECT_GT(handoff_counters_[0].handoff_full + handoff_counters_[1].handoff_full, 0u);
}

TEST(FlowOwner, flows_are_spread_evenly_and_both_directions_have_one_owner) {
  constexpr size_t kWorkers = 3;
  std::array<uint64_t, kWorkers> owned{};
  const FlowOwner first({.worker_count = kWorkers, .worker = 0, .seed = 9});
  const FlowOwner second({.worker_count = kWorkers, .worker = 1, .seed = 9});
  for (uint32_t i = 0; i < 300'000; ++i) {
    const net::Ipv4Address client{
        {10, static_cast<uint8_t>(i >> 16), static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}};
    const size_t owner = first.owner_of(client);
    ASSERT_LT(owner, kWorkers);
    ASSERT_EQ(owner, second.owner_of(client));
    ++owned[owner];
  }
  // Entries of a network card's table: 43, 43 and 42 of 128.
  for (const uint64_t count : owned) EXPECT_NEAR(static_cast<double>(count), 100'000, 2'500);
}

}  // namespace
}  // namespace roost::node
