// The worker loop over real DPDK virtual devices: order, counts, time and conservation.
#include "roost/node/worker_loop.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/io/capture_writer.h"
#include "tests/io/port_run.h"

namespace roost::node {
namespace {

constexpr uint64_t kTickUs = 1000;

const auto kNeverStop = [] { return false; };
const auto kSilent = [](const WorkerCounters&) {};

// Decides by the frame's number: every fourth is dropped, by cause 7 or 200; the rest leave by port
// 1 or 2.
class DecideByNumber {
 public:
  void process(net::PacketBatch& batch, Tick now) {
    saw(now);
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const uint32_t number = io::frame_number(batch.packets()[lane].data);
      batch.verdicts()[lane] = verdict(number);
      ++processed;
    }
  }
  void idle(Tick now, uint64_t budget) {
    saw(now);
    ++idle_calls;
    last_budget = budget;
  }
  net::Outbox& outbox() { return outbox_; }

  [[nodiscard]] static net::LaneVerdict verdict(uint32_t number) {
    if (number % 8 == 3) return net::drop(net::DropCause{7});
    if (number % 8 == 7) return net::drop(net::DropCause{200});
    return net::LaneVerdict::forward(number % 4 == 0 ? 2 : 1);
  }

  uint64_t processed = 0;
  uint64_t idle_calls = 0;
  uint64_t last_budget = 0;
  std::vector<uint64_t> ticks;  // each that was seen, once

 private:
  void saw(Tick now) {
    if (ticks.empty() || ticks.back() != now.count) ticks.push_back(now.count);
  }

  net::Outbox outbox_;
};

class WorkerLoop : public testing::Test {
 protected:
  // Two captures of `count` frames each, numbered in the order of their merged timestamps.
  void write_captures(uint32_t count) {
    std::vector<io::Frame> first;
    std::vector<io::Frame> second;
    for (uint32_t i = 0; i < count; ++i) {
      first.push_back({10'000 + 20 * i, io::numbered_frame(2 * i, 60)});
      second.push_back({10'000 + 20 * i + 10, io::numbered_frame(2 * i + 1, 90)});
    }
    io::write_capture(directory_.file("a.pcap"), first);
    io::write_capture(directory_.file("b.pcap"), second);
  }

  [[nodiscard]] std::vector<std::string> devices() const {
    return {"net_pcap0,rx_pcap=" + directory_.file("a.pcap"),
            "net_pcap1,rx_pcap=" + directory_.file("b.pcap") +
                ",tx_pcap=" + directory_.file("out.pcap"),
            "net_ring0"};
  }

  io::TemporaryDirectory directory_;
};

TEST_F(WorkerLoop, every_packet_of_the_captures_is_sent_refused_or_dropped_by_cause) {
  constexpr uint32_t kCount = 3000;
  write_captures(kCount);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({kCount, kCount}, kTickUs);
  DecideByNumber function;
  Worker worker(function, run.ports(), {.idle_budget = 5});
  worker.run_captures(captures, kNeverStop, kSilent);

  const std::vector<io::Port>& ports = run.ports();
  const WorkerCounters& counters = worker.counters();
  const uint64_t received = ports[0].counters().received + ports[1].counters().received;
  EXPECT_EQ(received, 2 * kCount);
  EXPECT_EQ(counters.packets, 2 * kCount);
  EXPECT_EQ(function.processed, 2 * kCount);
  EXPECT_EQ(counters.drops[net::DropCause{7}], 2 * kCount / 8);
  EXPECT_EQ(counters.drops[net::DropCause{200}], 2 * kCount / 8);
  EXPECT_EQ(counters.drops[net::DropCause{0}], 0u);
  EXPECT_EQ(ports[0].counters().sent, 0u);
  EXPECT_EQ(ports[1].counters().sent, 2 * kCount / 2);
  EXPECT_EQ(ports[2].counters().sent, io::kRingRoom);
  EXPECT_EQ(ports[2].counters().refused, 2 * kCount / 4 - io::kRingRoom);
  EXPECT_EQ(function.idle_calls, counters.batches);
  EXPECT_EQ(function.last_budget, 5u);
  for (const auto& [name, stage] : kStages) EXPECT_GT(counters.cycles.*stage, 0u) << name;
  EXPECT_EQ(run.pool().in_use_count(), io::kRingRoom);
}

TEST_F(WorkerLoop, each_port_sends_its_packets_in_the_order_they_came) {
  constexpr uint32_t kCount = 500;
  write_captures(kCount);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({kCount, kCount}, kTickUs);
  DecideByNumber function;
  Worker worker(function, run.ports(), {});
  worker.run_captures(captures, kNeverStop, kSilent);
  run.close_ports();
  const std::vector<io::Frame> out = io::read_capture(directory_.file("out.pcap"));
  size_t sent = 0;
  for (uint32_t number = 0; number < 2 * kCount; ++number) {
    const net::LaneVerdict verdict = DecideByNumber::verdict(number);
    if (verdict.is_drop() || verdict.out_port() != 1) continue;
    ASSERT_LT(sent, out.size());
    EXPECT_EQ(io::frame_number(out[sent].bytes.data()), number);
    ++sent;
  }
  EXPECT_EQ(sent, out.size());
}

TEST_F(WorkerLoop, a_replay_runs_in_the_packets_time) {
  constexpr uint32_t kCount = 500;
  write_captures(kCount);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({kCount, kCount}, kTickUs);
  DecideByNumber function;
  Worker worker(function, run.ports(), {});
  worker.run_captures(captures, kNeverStop, kSilent);
  // 500 frames of each capture, 20 us apart, from 10 ms on.
  EXPECT_EQ(function.ticks, (std::vector<uint64_t>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST_F(WorkerLoop, a_stopped_replay_keeps_its_books) {
  constexpr uint32_t kCount = 500;
  write_captures(kCount);
  io::PortRun run(devices());
  DecideByNumber function;
  Worker worker(function, run.ports(), {});
  {
    io::CaptureMerge captures = run.merge({kCount, kCount}, kTickUs);
    worker.run_captures(
        captures, [&] { return worker.counters().batches == 3; }, kSilent);
  }
  uint64_t received = 0;
  uint64_t sent_or_refused = 0;
  for (const io::Port& port : run.ports()) {
    received += port.counters().received;
    sent_or_refused += port.counters().sent + port.counters().refused;
  }
  const WorkerCounters& counters = worker.counters();
  EXPECT_EQ(counters.batches, 3u);
  EXPECT_EQ(received, counters.packets);
  EXPECT_EQ(received, sent_or_refused + counters.drops[net::DropCause{7}] +
                          counters.drops[net::DropCause{200}]);
  EXPECT_EQ(run.pool().in_use_count(), run.ports()[2].counters().sent);
}

// Sends everything out of one port.
struct ForwardAll {
  void process(net::PacketBatch& batch, Tick) {
    for (net::LaneVerdict& verdict : batch.verdicts())
      verdict = net::LaneVerdict::forward(out_port);
  }
  void idle(Tick, uint64_t) { ++idle_calls; }
  net::Outbox& outbox() { return box; }

  uint16_t out_port = 1;
  uint64_t idle_calls = 0;
  net::Outbox box{};
};

TEST_F(WorkerLoop, live_ports_are_polled_until_the_stop_and_idle_work_goes_on_without_traffic) {
  // to itself.
  // The first port always has packets, the second never.
  io::PortRun run({"net_null0,size=64", "net_null1,no-rx=1"});
  ForwardAll function;
  Worker worker(function, run.ports(), {});
  const io::TickClock clock(1.0);
  uint64_t polls = 0;
  worker.run_live(
      clock, [&] { return ++polls > 50; }, kSilent);
  EXPECT_EQ(worker.counters().batches, 50u);
  EXPECT_EQ(worker.counters().packets, 50u * net::kBatchLanesMax);
  EXPECT_EQ(run.ports()[0].counters().received, 50u * net::kBatchLanesMax);
  EXPECT_EQ(run.ports()[1].counters().sent, 50u * net::kBatchLanesMax);
  EXPECT_EQ(function.idle_calls, 100u);  // of both ports, one with and one without packets
  EXPECT_TRUE(run.pool().audit());
}

TEST_F(WorkerLoop, the_report_comes_once_a_second_of_a_live_run) {
  io::PortRun run({"net_null0,no-rx=1"});
  ForwardAll function;
  Worker worker(function, run.ports(), {});
  const io::TickClock clock(1.0);
  uint64_t reports = 0;
  worker.run_live(
      clock, [&] { return reports == 2; }, [&](const WorkerCounters&) { ++reports; });
  EXPECT_EQ(reports, 2u);
  EXPECT_GE(clock.now().count, 2u);
  EXPECT_LT(clock.now().count, 10u);
}

// Notes how many batches the worker has behind it at each of three steps.
struct NoteBatches final : Request {
  bool step() override {
    batches.push_back(counters->batches);
    return batches.size() == 3;
  }
  const WorkerCounters* counters = nullptr;
  std::vector<uint64_t> batches;
};

void ask(WorkerMailboxes& mailboxes, NoteBatches& request) {
  Request* const requests[] = {&request};
  EXPECT_EQ(mailboxes.ask(requests, std::chrono::seconds(60)), std::vector<Answer>{Answer::kDone});
}

TEST_F(WorkerLoop, a_request_has_a_step_each_turn) {
  io::PortRun run({"net_null0,size=64", "net_null1,no-rx=1"});
  ForwardAll function;
  WorkerMailboxes mailboxes(1);
  Worker worker(function, run.ports(), {.mailbox = &mailboxes.mailbox(0)});
  NoteBatches request;
  request.counters = &worker.counters();
  std::thread asker([&] { ask(mailboxes, request); });
  worker.run_live(
      io::TickClock(1.0), [&] { return request.batches.size() == 3; }, kSilent);
  asker.join();
  EXPECT_EQ(request.batches[1], request.batches[0] + 1);
  EXPECT_EQ(request.batches[2], request.batches[0] + 2);
}

TEST_F(WorkerLoop, a_request_has_a_step_between_two_batches_of_a_replay) {
  constexpr uint32_t kCount = 500;
  write_captures(kCount);
  io::PortRun run(devices());
  io::CaptureMerge captures = run.merge({kCount, kCount}, kTickUs);
  DecideByNumber function;
  WorkerMailboxes mailboxes(1);
  Worker worker(function, run.ports(), {.mailbox = &mailboxes.mailbox(0)});
  NoteBatches request;
  request.counters = &worker.counters();
  std::thread asker([&] { ask(mailboxes, request); });
  const auto wait_for_asker = [&] {  // once a batch
    if (request.batches.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return false;
  };
  worker.run_captures(captures, wait_for_asker, kSilent);
  mailboxes.mailbox(0).close();
  asker.join();
  const uint64_t first = request.batches[0];
  EXPECT_EQ(request.batches, (std::vector<uint64_t>{first, first + 1, first + 2}));
}

using WorkerLoopDeathTest = WorkerLoop;

TEST_F(WorkerLoopDeathTest, a_port_that_does_not_exist_ends_the_process) {
  io::PortRun run({"net_null0,size=64"});
  ForwardAll function{.out_port = 1};
  Worker worker(function, run.ports(), {});
  const io::TickClock clock(1.0);
  uint64_t polls = 0;
  EXPECT_DEATH(worker.run_live(
                   clock, [&] { return ++polls > 1; }, kSilent),
               "out_port");
}

}  // namespace
}  // namespace roost::node
