// What a function sends of its own and what it keeps: the worker loop sends the outbox after each
// batch and each idle turn, and the sum closes over all of it.
#include <gtest/gtest.h>

#include <vector>

#include "roost/node/worker_loop.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

constexpr size_t kOwnBytes = 77;  // of a frame that idle() originates

// By the frame's number: one of three is forwarded, one dropped, one consumed and answered.
// idle() sends a frame of its own every time.
class AnswerByNumber {
 public:
  void process(net::PacketBatch& batch, Tick) {
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const net::Packet& packet = batch.packets()[lane];
      batch.verdicts()[lane] = decide(packet, io::frame_number(packet.data));
    }
  }
  void idle(Tick, uint64_t) {
    EXPECT_TRUE(outbox_.is_empty()) << "what process() originated has not been sent";
    EXPECT_TRUE(outbox_.send(own_port, std::vector<uint8_t>(kOwnBytes, 0xee)));
  }
  net::Outbox& outbox() { return outbox_; }

  uint16_t own_port = 1;
  size_t answer_count = 2;

 private:
  net::LaneVerdict decide(const net::Packet& packet, uint32_t number) {
    if (number % 3 == 0) return net::LaneVerdict::forward(1);
    if (number % 3 == 1) return net::drop(net::DropCause{9});
    const std::span<const uint8_t> bytes(packet.data, packet.contiguous_bytes);
    for (size_t i = 0; i < answer_count; ++i) EXPECT_TRUE(outbox_.send(own_port, bytes));
    return net::LaneVerdict::consume();
  }

  net::Outbox outbox_;
};

class Originate : public testing::Test {
 protected:
  static constexpr uint32_t kCount = 600;

  void SetUp() override {
    std::vector<io::Frame> frames;
    for (uint32_t i = 0; i < kCount; ++i)
      frames.push_back({1'000'000 + i, io::numbered_frame(i, 60)});
    io::write_capture(directory_.file("in.pcap"), frames);
  }
  void replay(io::PortRun& run) {
    io::CaptureMerge captures = run.merge({kCount}, 1'000'000);
    Worker worker(function_, run.ports(), {});
    worker.run_captures(
        captures, [] { return false; }, [](const WorkerCounters&) {});
    counters_ = worker.counters();
  }
  // Of the sum that closes, what its two sides differ by.
  int64_t difference(io::PortRun& run) {
    uint64_t in = counters_.originated;
    uint64_t out = counters_.consumed;
    for (const io::Port& port : run.ports()) {
      in += port.counters().received;
      out += port.counters().sent + port.counters().refused + port.counters().no_buffer;
    }
    out += counters_.drops.sum();
    return static_cast<int64_t>(in) - static_cast<int64_t>(out);
  }
  [[nodiscard]] std::string source() const {
    return "net_pcap0,rx_pcap=" + directory_.file("in.pcap");
  }
  [[nodiscard]] std::string sink() const {
    return "net_pcap1,tx_pcap=" + directory_.file("out.pcap");
  }

  io::TemporaryDirectory directory_;
  AnswerByNumber function_;
  WorkerCounters counters_;
};

TEST_F(Originate, answers_leave_after_their_batch_and_before_what_idle_makes) {
  io::PortRun run({source(), sink()});
  replay(run);
  EXPECT_EQ(counters_.packets, kCount);
  EXPECT_EQ(counters_.consumed, kCount / 3);
  EXPECT_EQ(counters_.drops[net::DropCause{9}], kCount / 3);
  EXPECT_EQ(counters_.originated, 2 * kCount / 3 + counters_.batches);
  EXPECT_EQ(run.ports()[1].counters().sent, kCount / 3 + counters_.originated);
  EXPECT_EQ(difference(run), 0);
  EXPECT_TRUE(run.pool().audit());
  run.close_ports();

  // Per batch of 32: the forwarded ones, each answer twice, and one frame of idle().
  const std::vector<io::Frame> out = io::read_capture(directory_.file("out.pcap"));
  size_t at = 0;
  for (uint32_t begin = 0; begin < kCount; begin += net::kBatchLanesMax) {
    const uint32_t end = std::min<uint32_t>(kCount, begin + net::kBatchLanesMax);
    for (uint32_t i = begin; i < end; ++i) {
      if (i % 3 != 0) continue;
      ASSERT_EQ(out.at(at++).bytes, io::numbered_frame(i, 60));
    }
    for (uint32_t i = begin; i < end; ++i) {
      if (i % 3 != 2) continue;
      ASSERT_EQ(out.at(at++).bytes, io::numbered_frame(i, 60));
      ASSERT_EQ(out.at(at++).bytes, io::numbered_frame(i, 60));
    }
    ASSERT_EQ(out.at(at++).bytes.size(), kOwnBytes);
  }
  EXPECT_EQ(at, out.size());
}

TEST_F(Originate, answers_that_the_device_refuses_are_counted) {
  function_.own_port = 2;
  function_.answer_count = 9;
  io::PortRun run({source(), sink(), "net_ring0"});
  replay(run);
  EXPECT_EQ(counters_.originated, 3ULL * kCount + counters_.batches);
  EXPECT_EQ(run.ports()[2].counters().sent, io::kRingRoom);
  EXPECT_EQ(run.ports()[2].counters().refused, counters_.originated - io::kRingRoom);
  EXPECT_EQ(difference(run), 0);
}

TEST_F(Originate, answers_that_find_no_buffer_are_counted) {
  function_.own_port = 2;
  function_.answer_count = 20;  // a batch's answers want more buffers than there are
  io::PortRun run({source(), sink(), "net_ring0"}, {.buffer_count = 200});
  replay(run);
  EXPECT_GT(run.ports()[2].counters().no_buffer, 0u);
  EXPECT_EQ(run.ports()[2].counters().sent + run.ports()[2].counters().no_buffer,
            counters_.originated);
  EXPECT_EQ(difference(run), 0);
}

TEST_F(Originate, an_idle_turn_without_traffic_sends_too) {
  function_.own_port = 0;
  io::PortRun run({"net_null0,no-rx=1"});
  Worker worker(function_, run.ports(), {});
  const io::TickClock clock(1.0);
  uint64_t polls = 0;
  worker.run_live(
      clock, [&] { return ++polls > 10; }, [](const WorkerCounters&) {});
  counters_ = worker.counters();
  EXPECT_EQ(counters_.originated, 10u);
  EXPECT_EQ(run.ports()[0].counters().sent, 10u);
  EXPECT_EQ(difference(run), 0);
}

}  // namespace
}  // namespace roost::node
