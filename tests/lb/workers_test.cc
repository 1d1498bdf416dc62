// The load balancer on two workers, over real ports: each flow is one worker's, whatever queue its
// packets come by, and both its directions meet there.
//
// The test is the world: clients on one side, backends on the other, or both on one port. Packets
// of a flow come by random queues, as from a network card that knows nothing of translation. Each
// worker notes the client's address and port of every packet that it decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <random>
#include <stop_token>
#include <thread>
#include <unordered_set>
#include <vector>

#include "apps/lb/control/report.h"
#include "apps/lb/datapath/datapath.h"
#include "roost/io/handoff.h"
#include "roost/io/lcores.h"
#include "roost/node/worker_loop.h"
#include "tests/base/step_count.h"
#include "tests/io/port_run.h"
#include "tests/io/wire.h"
#include "tests/lb/test_balancer.h"
#include "tests/lb/test_packet.h"

namespace roost::lb {
namespace {

constexpr size_t kWorkers = 2;
constexpr auto kClients = static_cast<uint32_t>(step_count(30'000));
constexpr uint32_t kFlows = 7 * kClients;
constexpr uint32_t kRounds = 3;         // a request and its reply each
constexpr uint32_t kFlowsAtOnce = 900;  // with requests under way
constexpr size_t kAddress = 14 + 12;    // of the source in an IPv4 frame without tags
constexpr size_t kPorts = 14 + 20;

uint64_t end_of(const uint8_t* frame, bool is_source) {
  std::array<uint8_t, 8> end{};
  std::memcpy(end.data(), frame + kAddress + (is_source ? 0 : 4), 4);
  std::memcpy(end.data() + 4, frame + kPorts + (is_source ? 0 : 2), 2);
  uint64_t bits = 0;
  std::memcpy(&bits, end.data(), sizeof bits);
  return bits;
}

// A datapath that notes the flows of the packets that it decided.
class NotingDatapath {
 public:
  NotingDatapath(State& state, const node::FlowOwner& owner) : datapath_(state, owner) {}

  void process(net::PacketBatch& batch, Tick now) {
    std::array<uint64_t, net::kBatchLanesMax> ends;
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      const uint8_t* frame = batch.packets()[lane].data;
      // Virtual addresses begin with 198, backends' with 10.
      const bool is_request = frame[kAddress + 4] == 198;
      ends[lane] = end_of(frame, is_request);
    }
    datapath_.process(batch, now);
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      if (!batch.verdicts()[lane].is_handoff()) clients.insert(ends[lane]);
    }
  }
  void idle(Tick now, uint64_t budget) { datapath_.idle(now, budget); }
  net::Outbox& outbox() { return datapath_.outbox(); }

  std::unordered_set<uint64_t> clients;

 private:
  Datapath datapath_;
};

// Clients and backends. Each flow sends a request, waits for the reply, and so on for its rounds.
class World {
 public:
  World(io::Wire& clients, io::Wire& backends) : clients_(clients), backends_(backends) {}

  // Until all flows have had their rounds; false when packets were lost on the way.
  bool run() {
    while (done_ < kFlows) {
      while (next_ < kFlows && next_ - done_ < kFlowsAtOnce) start(next_++);
      const size_t moved = answer(backends_) + (&clients_ == &backends_ ? 0 : answer(clients_));
      const auto now = std::chrono::steady_clock::now();
      idle_turns_ = moved + flush() == 0 ? idle_turns_ + 1 : 0;
      if (idle_turns_ == 0) moved_at_ = now;
      if (idle_turns_ > kIdleTurnsMax && now - moved_at_ > kSilenceMax) return false;
      if (moved == 0) std::this_thread::yield();
    }
    return true;
  }

  uint64_t put = 0;

 private:
  // Both, so that a machine that was suspended is not taken for one that lost packets.
  static constexpr uint64_t kIdleTurnsMax = 100'000;
  static constexpr std::chrono::seconds kSilenceMax{60};

  struct Waiting {
    io::Wire* wire;
    std::vector<uint8_t> frame;
  };

  void start(uint32_t flow) {
    std::vector<uint8_t> frame = request_;
    // All behind a router.
    const uint32_t client = flow % kClients;
    frame[kAddress + 2] = static_cast<uint8_t>(client >> 8);
    frame[kAddress + 3] = static_cast<uint8_t>(client);
    const auto port = static_cast<uint16_t>(20'000 + flow / kClients);
    frame[kPorts] = static_cast<uint8_t>(port >> 8);
    frame[kPorts + 1] = static_cast<uint8_t>(port);
    fix_ipv4_checksum(frame);
    send(clients_, std::move(frame));
  }

  // Whatever the balancer sent is answered by its destination: ends and MACs change places.
  size_t answer(io::Wire& wire) {
    size_t count = 0;
    while (auto taken = wire.take()) {
      ++count;
      std::vector<uint8_t>& frame = *taken;
      const bool is_for_backend = frame[kAddress + 4] == 10;
      std::swap_ranges(&frame[0], &frame[6], &frame[6]);
      std::swap_ranges(&frame[kAddress], &frame[kAddress + 4], &frame[kAddress + 4]);
      std::swap_ranges(&frame[kPorts], &frame[kPorts + 2], &frame[kPorts + 2]);
      frame[22] = 64;
      fix_ipv4_checksum(frame);
      if (is_for_backend) {
        send(backends_, std::move(frame));
      } else if (++rounds_[flow_of(frame)] < kRounds) {
        send(clients_, std::move(frame));
      } else {
        ++done_;
      }
    }
    return count;
  }

  // Of a frame that a client sends.
  static uint32_t flow_of(const std::vector<uint8_t>& frame) {
    const uint32_t port = uint32_t{frame[kPorts]} << 8 | frame[kPorts + 1];
    const uint32_t client = uint32_t{frame[kAddress + 2]} << 8 | frame[kAddress + 3];
    return (port - 20'000u) * kClients + client;
  }

  void send(io::Wire& wire, std::vector<uint8_t> frame) {
    waiting_.push_back({&wire, std::move(frame)});
  }

  // Puts in what there is room for.
  size_t flush() {
    size_t count = 0;
    while (!waiting_.empty()) {
      const Waiting& first = waiting_.front();
      const auto queue = static_cast<uint16_t>(random_() % first.wire->queue_count());
      if (!first.wire->put(queue, first.frame)) break;
      waiting_.pop_front();
      ++count;
    }
    put += count;
    return count;
  }

  io::Wire& clients_;
  io::Wire& backends_;
  std::vector<uint8_t> request_ = make_frame({.source = "203.0.0.7", .tcp_flags = net::tcp::kAck});
  std::deque<Waiting> waiting_;
  std::vector<uint8_t> rounds_ = std::vector<uint8_t>(kFlows);
  std::mt19937 random_{1};
  uint32_t next_ = 0;
  uint32_t done_ = 0;
  uint64_t idle_turns_ = 0;
  std::chrono::steady_clock::time_point moved_at_ = std::chrono::steady_clock::now();
};

// Two workers between the wires, until the world has seen all it wants.
struct Balanced {
  std::vector<std::unique_ptr<State>> states;
  std::vector<std::unique_ptr<NotingDatapath>> datapaths;
  node::RunTotals totals;
  uint64_t put = 0;
  bool is_whole = false;
};

Config config_of(const std::string& toml) {
  ConfigOutcome outcome = parse_config(toml);
  for (const config::Fault& fault : outcome.faults) ADD_FAILURE() << describe(fault, "test");
  Config config = std::move(outcome.config).value();
  config.workers.count = kWorkers;
  return config;
}

void count_worker(size_t worker, const node::WorkerCounters& counters, io::Handoff& handoff,
                  node::RunTotals& totals) {
  const io::HandoffCounters& handed_off = handoff.queues(worker).counters();
  totals.workers.push_back({{}, handed_off, counters, counters.packets});
  add_counters<node::FrameCounters>(node::kFrameCounters, counters, totals);
  totals.drops += counters.drops;
  totals.drops[DropCause::kHandoffFull] += handed_off.handoff_full;
}

Balanced balance(const std::string& toml, uint16_t queue_count) {
  const Config config = config_of(toml);
  Balanced result;
  // DPDK starts with a port; the wires' come after it.
  io::PortRun run({"net_null0,no-rx=1"}, {.buffer_count = 16'384, .data_room_bytes = 256},
                  kWorkers);
  std::deque<io::Wire> wires;
  for (size_t port = 1; port < config.network.ports.size(); ++port) {
    wires.emplace_back("wire" + std::to_string(port), queue_count, run.pool());
    run.open(wires.back().port_id(), kWorkers);
  }
  io::Handoff handoff = io::Handoff::create({.worker_count = kWorkers}).value();
  std::deque<node::Worker<NotingDatapath>> workers;
  const std::vector<net::MacAddress> macs(config.network.ports.size());
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    result.states.push_back(std::make_unique<State>(State::create(config, macs).value()));
    result.datapaths.push_back(std::make_unique<NotingDatapath>(
        *result.states.back(),
        node::FlowOwner({.worker_count = kWorkers, .worker = worker, .seed = 5})));
    workers.emplace_back(*result.datapaths.back(), run.ports(),
                         node::WorkerConfig{.worker = worker, .handoff = &handoff.queues(worker)});
  }
  World world(wires.front(), wires.back());
  std::stop_source stop;
  std::jthread world_thread([&] {
    result.is_whole = world.run();
    stop.request_stop();
  });
  const io::TickClock clock(config.tick_seconds());
  io::run_on_lcores(kWorkers, [&](size_t worker) {
    workers[worker].run_live(
        clock,
        [&] {
          std::this_thread::yield();  // there may be fewer cores than threads
          return stop.stop_requested();
        },
        [](const node::WorkerCounters&) {});
  });
  world_thread.join();
  result.put = world.put;
  for (size_t worker = 0; worker < kWorkers; ++worker)
    count_worker(worker, workers[worker].counters(), handoff, result.totals);
  for (const io::Port& port : run.ports()) result.totals.ports.push_back({port.counters(), {}, ""});
  run.close_ports();
  return result;
}

void expect_every_flow_is_one_workers(const Balanced& result) {
  EXPECT_TRUE(result.is_whole) << "packets were lost";
  EXPECT_GE(result.put, uint64_t{2} * kRounds * kFlows);
  const auto& first = result.datapaths[0]->clients;
  const auto& second = result.datapaths[1]->clients;
  const auto shared =
      std::ranges::count_if(first, [&](uint64_t end) { return second.contains(end); });
  EXPECT_EQ(shared, 0) << "flows were seen by two workers";
  EXPECT_EQ(first.size() + second.size(), kFlows);
  EXPECT_GT(first.size(), kFlows * 0.49);
  EXPECT_GT(second.size(), kFlows * 0.49);

  const std::vector<State*> states = {result.states[0].get(), result.states[1].get()};
  const Report report = make_report(states, result.totals);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  EXPECT_EQ(report.flows.created, kFlows);
  EXPECT_EQ(report.received, result.put);
  EXPECT_GT(report.run.workers[0].handoff_out + report.run.workers[1].handoff_out, result.put / 3);
}

// Room for all flows, a router on the clients' port, and the null port before the others.
std::string many_clients(std::string toml) {
  toml.insert(toml.find("[[port]]"),
              "[[port]]\naddresses = [\"192.168.99.1/24\"]\nmac = \"02:00:00:00:00:09\"\n");
  const std::string_view connections = "connections = 4_096";
  toml.replace(toml.find(connections), connections.size(), "connections = 250_000");
  const std::string_view mac = "mac = \"02:00:00:00:00:01\"";
  return toml.replace(toml.find(mac), mac.size(),
                      std::string(mac) + "\ndefault_neighbour_mac = \"02:00:00:00:01:10\"");
}

TEST(workers, a_flow_is_one_workers_between_two_ports_with_a_queue_each) {
  expect_every_flow_is_one_workers(balance(many_clients(test_config()), 2));
}

TEST(workers, a_flow_is_one_workers_when_ports_have_one_queue) {
  expect_every_flow_is_one_workers(balance(many_clients(test_config()), 1));
}

// Clients and backends on one port: its two networks, one wire.
std::string one_armed() {
  std::string toml = many_clients(test_config());
  const std::string_view second =
      "[[port]]\naddresses = [\"10.0.0.1/24\", \"2001:db8:2::1/64\"]\nmac = "
      "\"02:00:00:00:00:02\"\n";
  toml.erase(toml.find(second), second.size());
  const std::string_view first = "\"192.0.2.1/24\", ";
  return toml.replace(toml.find(first), first.size(),
                      "\"192.0.2.1/24\", \"10.0.0.1/24\", \"2001:db8:2::1/64\", ");
}

TEST(workers, a_flow_is_one_workers_with_clients_and_backends_on_one_port) {
  expect_every_flow_is_one_workers(balance(one_armed(), 2));
}

}  // namespace
}  // namespace roost::lb
