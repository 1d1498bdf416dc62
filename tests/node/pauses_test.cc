// A worker sleeps when nothing comes, if it may, and only then.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "roost/io/lcores.h"
#include "roost/node/worker_loop.h"
#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

using std::chrono::steady_clock;

constexpr uint32_t kPauseMicroseconds = 1'000;
const auto kUnseen = [](const WorkerCounters&) {};

// Sends what it receives by port 1, and what is another's to that one.
class SendOrHandOff {
 public:
  explicit SendOrHandOff(size_t worker = 0, size_t owner = 0) {
    if (worker != owner) verdict_ = net::LaneVerdict::handoff(owner);
  }
  void process(net::PacketBatch& batch, Tick) {
    for (net::LaneVerdict& verdict : batch.verdicts()) verdict = verdict_;
  }
  void idle(Tick, uint64_t) {}
  net::Outbox& outbox() { return outbox_; }

 private:
  net::LaneVerdict verdict_ = net::LaneVerdict::forward(1);
  net::Outbox outbox_;
};

// How often a worker had slept when a request's first step ran, and when its last did.
class ManySteps : public Request {
 public:
  explicit ManySteps(const WorkerCounters& counters) : counters_(counters) {}

  bool step() override {
    if (step_count_ == 0) pauses_before = counters_.pauses;
    pauses_after = counters_.pauses;
    return ++step_count_ == 50'000;
  }

  uint64_t pauses_before = 0;
  uint64_t pauses_after = 0;

 private:
  const WorkerCounters& counters_;
  uint32_t step_count_ = 0;
};

TEST(Pauses, a_worker_that_may_not_sleep_polls) {
  io::PortRun run({"net_null0,no-rx=1", "net_null1,no-rx=1"});
  SendOrHandOff function;
  Worker worker(function, run.ports(), {});
  steady_clock::time_point begin{};  // within the run
  const auto is_over = [&] {
    const auto now = steady_clock::now();
    if (begin == steady_clock::time_point{}) begin = now;
    return now - begin >= std::chrono::milliseconds(50);
  };
  worker.run_live(io::TickClock(1.0), is_over, kUnseen);
  EXPECT_EQ(worker.counters().pauses, 0U);
  EXPECT_GE(worker.counters().run_microseconds, 50'000U);
  EXPECT_GT(worker.counters().cpu_microseconds, 0U);
}

TEST(Pauses, without_packets_it_leaves_its_core_to_others) {
  io::PortRun run({"net_null0,no-rx=1", "net_null1,no-rx=1"});
  SendOrHandOff function;
  Worker worker(function, run.ports(), {.pause_microseconds = kPauseMicroseconds});
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  worker.run_live(
      io::TickClock(1.0),
      [&] { return worker.counters().pauses >= 100 || steady_clock::now() >= end; }, kUnseen);
  EXPECT_EQ(worker.counters().pauses, 100U);
  EXPECT_LT(worker.counters().cpu_share(), 0.5);
}

TEST(Pauses, no_packet_waits_for_a_worker_that_has_others) {
  io::PortRun run({"net_null0,size=64", "net_null1,no-rx=1"});
  SendOrHandOff function;
  Worker worker(function, run.ports(), {.pause_microseconds = kPauseMicroseconds});
  worker.run_live(
      io::TickClock(1.0), [&] { return worker.counters().batches >= 100'000; }, kUnseen);
  EXPECT_EQ(worker.counters().pauses, 0U);
}

TEST(Pauses, nor_does_a_request_between_two_of_its_steps) {
  io::PortRun run({"net_null0,no-rx=1", "net_null1,no-rx=1"});
  SendOrHandOff function;
  WorkerMailboxes mailboxes(1);
  Worker worker(function, run.ports(),
                {.mailbox = &mailboxes.mailbox(0), .pause_microseconds = kPauseMicroseconds});
  ManySteps request(worker.counters());
  std::stop_source is_answered;
  std::thread asker([&] {
    std::array<Request*, 1> requests = {&request};
    EXPECT_EQ(mailboxes.ask(requests, std::chrono::seconds(100)), std::vector{Answer::kDone});
    is_answered.request_stop();
  });
  worker.run_live(
      io::TickClock(1.0), [&] { return is_answered.stop_requested(); }, kUnseen);
  asker.join();
  EXPECT_EQ(request.pauses_after, request.pauses_before);
}

// The second worker has packets from the first one only.
TEST(Pauses, nor_does_what_another_worker_hands_off) {
  const io::TemporaryDirectory directory;
  io::write_capture(directory.file("in.pcap"), {{1, io::numbered_frame(1, 60)}});
  io::PortRun run(
      {"net_pcap0,infinite_rx=1,rx_pcap=" + directory.file("in.pcap"), "net_null0,no-rx=1"}, {}, 2);
  io::Handoff handoff = io::Handoff::create({.worker_count = 2}).value();
  std::array functions = {SendOrHandOff(0, 1), SendOrHandOff(1, 1)};
  std::array<WorkerCounters, 2> counters;
  std::stop_source is_enough;
  io::run_on_lcores(2, [&](size_t i) {
    Worker worker(
        functions[i], run.ports(),
        {.worker = i, .handoff = &handoff.queues(i), .pause_microseconds = kPauseMicroseconds});
    worker.run_live(
        io::TickClock(1.0),
        [&] {
          if (worker.counters().packets >= 500'000) is_enough.request_stop();
          return is_enough.stop_requested();
        },
        kUnseen);
    counters[i] = worker.counters();
  });
  EXPECT_GE(counters[1].packets, 500'000U);
  EXPECT_LT(2 * counters[1].pauses, counters[1].batches);
}

}  // namespace
}  // namespace roost::node
