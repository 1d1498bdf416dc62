#include "apps/lb/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "apps/lb/datapath.h"
#include "apps/lb/state.h"
#include "apps/lb/status_line.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/capture_file.h"
#include "roost/io/capture_merge.h"
#include "roost/io/clock.h"
#include "roost/io/eal.h"
#include "roost/io/port.h"
#include "roost/node/worker_loop.h"

namespace roost::lb {

namespace {

using Worker = node::Worker<Datapath>;

constexpr uint32_t kBuffersPerPort = 4'096;

// A capture to be replayed, and the device that will do it.
struct Replay {
  std::string device;
  io::CaptureSummary capture;
};

// Reads every capture once. A run replays captures as soon as one of its devices does; the other
// devices only send then.
Result<std::vector<Replay>> find_replays(std::span<const std::string> eal_arguments) {
  auto devices = io::read_device_arguments(eal_arguments);
  if (!devices) return devices.error();
  std::vector<Replay> replays;
  for (const io::DeviceArgument& device : devices.value()) {
    if (!device.is_replay()) continue;
    auto capture = io::summarize_capture(*device.rx_path);
    if (!capture) return capture.error();
    replays.push_back({device.name, std::move(capture).value()});
  }
  return replays;
}

void say_what_is_odd(const io::CaptureSummary& capture) {
  if (capture.cut_reason) {
    fmt::print(stderr, "roost: {}: the file is cut {}; its {} whole packets are replayed\n",
               capture.path, *capture.cut_reason, capture.packet_count);
  }
  if (capture.snapped_count != 0) {
    fmt::print(stderr,
               "roost: {}: {} packets were captured in part only and count as truncated; capture "
               "with a larger snapshot length\n",
               capture.path, capture.snapped_count);
  }
  if (capture.backward_count != 0) {
    fmt::print(
        stderr,
        "roost: {}: {} packets are stamped earlier than the one before; they are replayed in "
        "the file's order, at the time of the latest\n",
        capture.path, capture.backward_count);
  }
}

Result<std::vector<io::Port>> open_ports(const Config& config, const io::BufferPool& pool) {
  std::vector<io::Port> ports;
  ports.reserve(config.ports.size());
  for (const PortConfig& port : config.ports) {
    auto opened = io::Port::create({.id = static_cast<uint16_t>(ports.size()),
                                    .mac = port.mac,
                                    .mtu = port.mtu,
                                    .promiscuous = port.promiscuous},
                                   pool);
    if (!opened) return opened.error();
    ports.push_back(std::move(opened).value());
  }
  return ports;
}

PortTotals totals_of(const io::Port& port) {
  const io::PortCounters& counters = port.counters();
  const io::DeviceCounters device = port.read_device_counters();
  return {.device = port.device_name(),
          .received = counters.received,
          .received_bytes = counters.received_bytes,
          .sent = counters.sent,
          .sent_bytes = counters.sent_bytes,
          .refused = counters.refused,
          .no_buffer = counters.no_buffer,
          .malformed = counters.malformed,
          .device_missed = device.missed + device.no_buffer,
          .device_errors = device.receive_errors + device.transmit_errors};
}

void add_worker(const node::WorkerCounters& counters, RunTotals& totals) {
  totals.originated = counters.originated;
  totals.consumed = counters.consumed;
  totals.batches = counters.batches;
  totals.process_cycles = counters.process_cycles;
  totals.busy_cycles = counters.busy_cycles;
  std::copy_n(counters.drops_by_cause.begin(), kDropCauseCount, totals.drops.begin());
}

// What is there while packets flow, in the order of its life.
class Run {
 public:
  Run(State& state, std::vector<io::Port>& ports, const RunOptions& options)
      : state_(state),
        ports_(ports),
        options_(options),
        datapath_(state),
        worker_(datapath_, ports, {}) {}

  void live() {
    const io::TickClock clock(state_.config().tick_seconds());
    worker_.run_live(
        clock, [this] { return is_stopped(); },
        [this](const node::WorkerCounters& counters) { show(counters); });
  }

  std::optional<Error> captures(const io::Eal& eal, std::span<const Replay> replays) {
    std::vector<io::CaptureMerge::Source> sources;
    for (const Replay& replay : replays) {
      const std::optional<uint16_t> port = eal.find_port(replay.device);
      if (!port) return Error{"DPDK made no port of --vdev=" + replay.device};
      sources.push_back({&ports_[*port], replay.capture.packet_count});
    }
    auto merge = io::CaptureMerge::create(sources, state_.config().tick_microseconds);
    if (!merge) return merge.error();
    worker_.run_captures(
        merge.value(), [this] { return is_stopped(); },
        [this](const node::WorkerCounters& counters) { show(counters); });
    for (size_t i = 0; i < replays.size(); ++i) {
      const io::CaptureSummary& capture = replays[i].capture;
      const auto source = merge.value().report(i);
      captures_.push_back({capture.path, capture.packet_count, source.delivered, source.lost,
                           source.missing, capture.cut_reason});
    }
    return {};
  }

  [[nodiscard]] RunTotals totals() const {
    RunTotals totals{.captures = captures_};
    for (const io::Port& port : ports_) totals.ports.push_back(totals_of(port));
    add_worker(worker_.counters(), totals);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    totals.seconds = elapsed.count();
    return totals;
  }

 private:
  [[nodiscard]] bool is_stopped() const { return *options_.stop != 0; }

  void show(const node::WorkerCounters& counters) {
    uint64_t drops = 0;
    for (const uint64_t count : counters.drops_by_cause) drops += count;
    status_line_.show({.packets = counters.packets, .drops = drops, .flows = state_.counts()});
  }

  State& state_;
  std::vector<io::Port>& ports_;
  const RunOptions& options_;
  Datapath datapath_;
  Worker worker_;
  StatusLine status_line_;
  std::vector<CaptureTotals> captures_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Result<Report> run_with_ports(const Config& config, const io::Eal& eal,
                              std::vector<io::Port>& ports, std::span<const Replay> replays,
                              const RunOptions& options) {
  std::vector<net::MacAddress> macs;
  for (const io::Port& port : ports) macs.push_back(port.mac());
  auto state = State::create(config, macs);
  if (!state) return state.error();
  Run run(state.value(), ports, options);
  if (replays.empty()) {
    run.live();
  } else if (auto error = run.captures(eal, replays)) {
    return *error;
  }
  return make_report(state.value(), run.totals());
}

}  // namespace

Result<Report> run_on_ports(const Config& config, const RunOptions& options) {
  auto replays = find_replays(options.eal_arguments);
  if (!replays) return replays.error();
  for (const Replay& replay : replays.value()) say_what_is_odd(replay.capture);

  auto eal = io::Eal::start(options.eal_arguments);
  if (!eal) return eal.error();
  if (eal.value().port_count() != config.ports.size()) {
    return Error{
        fmt::format("DPDK has {} ports and the configuration {}; give one [[port]] for "
                    "each, in DPDK's order",
                    eal.value().port_count(), config.ports.size())};
  }
  const auto buffer_count =
      static_cast<uint32_t>(std::max<size_t>(2, config.ports.size()) * kBuffersPerPort);
  auto pool = io::BufferPool::create({.buffer_count = buffer_count});
  if (!pool) return pool.error();
  auto ports = open_ports(config, pool.value());
  if (!ports) return ports.error();

  // A replay must repeat: without a configured seed it takes a fixed one.
  Config run_config = config;
  if (!replays.value().empty() && !config.table.hash_seed) run_config.table.hash_seed = 1;
  return run_with_ports(run_config, eal.value(), ports.value(), replays.value(), options);
}

}  // namespace roost::lb
