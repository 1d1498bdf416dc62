#include "apps/lb/run.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "apps/lb/control_plane.h"
#include "apps/lb/observation.h"
#include "apps/lb/state.h"
#include "apps/lb/status_line.h"
#include "apps/lb/watched_datapath.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/capture_file.h"
#include "roost/io/capture_merge.h"
#include "roost/io/clock.h"
#include "roost/io/eal.h"
#include "roost/io/port.h"
#include "roost/node/thread_placement.h"
#include "roost/node/worker_loop.h"

namespace roost::lb {

namespace {

using Worker = node::Worker<WatchedDatapath>;

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

void add_port(const io::PortCounters& counters, PortTotals& totals) {
  totals.received = counters.received;
  totals.received_bytes = counters.received_bytes;
  totals.sent = counters.sent;
  totals.sent_bytes = counters.sent_bytes;
  totals.refused = counters.refused;
  totals.no_buffer = counters.no_buffer;
  totals.malformed = counters.malformed;
}

void add_device(const io::Port& port, PortTotals& totals) {
  const io::DeviceCounters device = port.read_device_counters();
  totals.device_missed = device.missed + device.no_buffer;
  totals.device_errors = device.receive_errors + device.transmit_errors;
}

PortTotals totals_of(const io::Port& port) {
  PortTotals totals{.device = port.device_name()};
  add_port(port.counters(), totals);
  add_device(port, totals);
  return totals;
}

std::vector<std::string> device_names(std::span<const io::Port> ports) {
  std::vector<std::string> names;
  for (const io::Port& port : ports) names.push_back(port.device_name());
  return names;
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
  Run(State& state, std::vector<io::Port>& ports, const RunOptions& options, bool is_replay)
      : state_(state),
        ports_(ports),
        options_(options),
        datapath_(state),
        worker_(datapath_, ports, {.mailbox = &mailroom_.mailbox(0)}),
        observation_(state.config(), {.datapaths = {&datapath_},
                                      .room = &mailroom_,
                                      .ports = device_names(ports),
                                      .is_replay = is_replay}) {}

  // From now on others may ask, as soon as packets flow.
  std::optional<Error> start_control(const cpu_set_t& allowed) {
    auto started = ControlPlane::start(
        state_.config(),
        {.workers = {{&state_, [this](RunTotals& totals) { read(totals); },
                      static_cast<unsigned>(std::max(0, sched_getcpu()))}},
         .room = &mailroom_,
         .read_devices = [this](std::span<PortTotals> totals) { read_devices(totals); },
         .io_version = io::dpdk_version(),
         .trace = [this](const Json& parameters) { return observation_.trace(parameters); },
         .begin = [this] { return observation_.begin(options_.watch); }},
        allowed);
    if (!started) return started.error();
    control_.emplace(std::move(started).value());
    return {};
  }

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

  // Packets flow no more; who still asks is told so. An error: what was watched is not told whole.
  std::optional<Error> end_control() {
    mailroom_.mailbox(0).close();
    control_.reset();
    return observation_.finish();
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
  // On the worker's thread; the ports' totals are there.
  void read(RunTotals& totals) const {
    for (size_t i = 0; i < ports_.size(); ++i) add_port(ports_[i].counters(), totals.ports[i]);
    add_worker(worker_.counters(), totals);
  }

  // On a control thread: DPDK lets any thread ask a device.
  void read_devices(std::span<PortTotals> totals) const {
    for (size_t i = 0; i < ports_.size(); ++i) {
      totals[i].device = ports_[i].device_name();
      add_device(ports_[i], totals[i]);
    }
  }

  [[nodiscard]] bool is_stopped() const { return *options_.stop != 0; }

  void show(const node::WorkerCounters& counters) {
    uint64_t drops = 0;
    for (const uint64_t count : counters.drops_by_cause) drops += count;
    status_line_.show({.packets = counters.packets, .drops = drops, .flows = state_.counts()});
  }

  State& state_;
  std::vector<io::Port>& ports_;
  const RunOptions& options_;
  node::Mailroom mailroom_{1};
  WatchedDatapath datapath_;
  Worker worker_;
  Observation observation_;
  StatusLine status_line_;
  std::vector<CaptureTotals> captures_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<ControlPlane> control_;
};

Result<Report> run_with_ports(const Config& config, const io::Eal& eal,
                              std::vector<io::Port>& ports, std::span<const Replay> replays,
                              const RunOptions& options, const cpu_set_t& allowed) {
  std::vector<net::MacAddress> macs;
  for (const io::Port& port : ports) macs.push_back(port.mac());
  auto state = State::create(config, macs);
  if (!state) return state.error();
  Run run(state.value(), ports, options, !replays.empty());
  if (auto error = run.start_control(allowed)) return *error;
  if (replays.empty()) {
    run.live();
  } else if (auto error = run.captures(eal, replays)) {
    return *error;
  }
  if (auto error = run.end_control()) return *error;
  return make_report(state.value(), run.totals());
}

}  // namespace

Result<Report> run_on_ports(const Config& config, const RunOptions& options) {
  auto replays = find_replays(options.eal_arguments);
  if (!replays) return replays.error();
  for (const Replay& replay : replays.value()) say_what_is_odd(replay.capture);

  const cpu_set_t allowed = node::allowed_processors();  // DPDK binds this thread to one
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
  return run_with_ports(run_config, eal.value(), ports.value(), replays.value(), options, allowed);
}

}  // namespace roost::lb
