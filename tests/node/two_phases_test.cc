// The worker loop with a function of two phases: a batch is started before the one before it is
// finished, and nothing waits when nothing comes.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "roost/node/worker_loop.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

const auto kNoReport = [](const WorkerCounters&) {};

// Notes its phases: "s1" is the start of the first batch, "f1" its end, "i" idle work. Frames leave
// by port 1, those of every second batch by port 0.
class PhaseNotes {
 public:
  struct Started {
    uint64_t number = 0;
    size_t lane_count = 0;
  };

  void start(net::PacketBatch& batch, Started& started) {
    started = {++started_count_, batch.lane_count()};
    notes += "s" + std::to_string(started.number) + " ";
  }
  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    EXPECT_EQ(batch.lane_count(), started.lane_count);
    EXPECT_GE(now, last_);
    last_ = now;
    notes += "f" + std::to_string(started.number) + " ";
    for (net::LaneVerdict& verdict : batch.verdicts())
      verdict = net::LaneVerdict::forward(static_cast<uint16_t>(started.number % 2));
    finished_count = started.number;
  }
  void process(net::PacketBatch& batch, Tick now) {
    Started started;
    start(batch, started);
    finish(batch, started, now);
  }
  void idle(Tick now, uint64_t /*budget*/) {
    EXPECT_GE(now, last_);
    last_ = now;
    notes += "i ";
  }
  net::Outbox& outbox() { return outbox_; }

  std::string notes;
  uint64_t finished_count = 0;

  [[nodiscard]] bool has_started() const { return started_count_ != finished_count; }

 private:
  uint64_t started_count_ = 0;
  Tick last_{};
  net::Outbox outbox_;
};
static_assert(HasTwoPhases<PhaseNotes>);

class TwoPhases : public testing::Test {
 protected:
  // A live run of so many turns over these devices.
  WorkerCounters run_turns(const std::vector<std::string>& devices, uint64_t turns) {
    io::PortRun run(devices);
    Worker worker(function_, run.ports(), {});
    uint64_t taken = 0;
    worker.run_live(
        io::TickClock(1.0), [&] { return taken++ == turns; }, kNoReport);
    uint64_t received = 0;
    uint64_t left = 0;
    for (const io::Port& port : run.ports()) {
      received += port.counters().received;
      left += port.counters().sent + port.counters().refused;
    }
    EXPECT_EQ(received, left);
    EXPECT_EQ(received, worker.counters().packets);
    EXPECT_EQ(run.pool().in_use_count(), 0U);
    return worker.counters();
  }

  PhaseNotes function_;
};

TEST_F(TwoPhases, a_batch_is_started_before_the_one_before_it_is_finished) {
  const WorkerCounters counters = run_turns({"net_null0,size=64", "net_null1,size=64"}, 2);
  EXPECT_EQ(function_.notes, "s1 s2 f1 i s3 f2 i s4 f3 i f4 i ");
  EXPECT_EQ(counters.batches, 4U);
  EXPECT_EQ(counters.packets, 4 * net::kBatchLanesMax);
  for (const auto& [name, stage] : kStages) EXPECT_GT(counters.cycles.*stage, 0U) << name;
}

TEST_F(TwoPhases, a_poll_without_packets_finishes_what_was_started) {
  run_turns({"net_null0,size=64", "net_null1,no-rx=1"}, 3);
  EXPECT_EQ(function_.notes, "s1 f1 i s2 f2 i s3 f3 i ");
}

TEST_F(TwoPhases, without_packets_there_is_idle_work_alone) {
  run_turns({"net_null0,no-rx=1"}, 3);
  EXPECT_EQ(function_.notes, "i i i ");
}

// Sees whether a batch is only started.
struct LookAtPhase final : Request {
  explicit LookAtPhase(const PhaseNotes& of) : function(of) {}
  bool step() override {
    ++steps;
    was_started |= function.has_started();
    return steps == 100;
  }
  const PhaseNotes& function;
  uint64_t steps = 0;
  bool was_started = false;
};

TEST_F(TwoPhases, a_request_sees_no_batch_that_is_only_started) {
  io::PortRun run({"net_null0,size=64", "net_null1,size=64"});
  WorkerMailboxes mailboxes(1);
  Worker worker(function_, run.ports(), {.mailbox = &mailboxes.mailbox(0)});
  LookAtPhase request(function_);
  std::thread asker([&] {
    Request* const requests[] = {&request};
    EXPECT_EQ(mailboxes.ask(requests, std::chrono::seconds(60)),
              std::vector<Answer>{Answer::kDone});
  });
  worker.run_live(
      io::TickClock(1.0), [&] { return request.steps == 100; }, kNoReport);
  asker.join();
  EXPECT_FALSE(request.was_started);
}

TEST_F(TwoPhases, a_replay_sends_every_frame_once_in_order) {
  constexpr uint32_t kCount = 1'000;
  const io::TemporaryDirectory directory;
  std::vector<io::Frame> frames;
  for (uint32_t i = 0; i < kCount; ++i)
    frames.push_back({10'000 + 20 * i, io::numbered_frame(i, 60)});
  io::write_capture(directory.file("in.pcap"), frames);
  const auto out = [&](int port) { return directory.file(std::to_string(port) + ".pcap"); };
  io::PortRun run({"net_pcap0,rx_pcap=" + directory.file("in.pcap") + ",tx_pcap=" + out(0),
                   "net_pcap1,tx_pcap=" + out(1)});
  io::CaptureMerge captures = run.merge({kCount}, 1'000);
  Worker worker(function_, run.ports(), {});
  worker.run_captures(
      captures, [] { return false; }, kNoReport);
  EXPECT_EQ(worker.counters().packets, kCount);
  EXPECT_EQ(worker.counters().batches, function_.finished_count);
  EXPECT_TRUE(function_.notes.starts_with("s1 s2 f1 i s3 f2 i ")) << function_.notes;
  run.close_ports();
  uint64_t sent = 0;
  for (const int port : {0, 1}) {
    uint32_t next = 0;
    for (const io::Frame& frame : io::read_capture(out(port))) {
      const uint32_t number = io::frame_number(frame.bytes.data());
      EXPECT_GE(number, next);
      next = number + 1;
      ++sent;
    }
  }
  EXPECT_EQ(sent, kCount);
}

}  // namespace
}  // namespace roost::node
