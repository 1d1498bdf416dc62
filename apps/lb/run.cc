#include "apps/lb/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/lb/control_plane.h"
#include "apps/lb/observation.h"
#include "apps/lb/workers.h"
#include "roost/hash/random_seed.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/capture_file.h"
#include "roost/io/capture_merge.h"
#include "roost/io/eal.h"
#include "roost/io/lcores.h"
#include "roost/io/port.h"
#include "roost/node/flow_owner.h"
#include "roost/node/offload_watch.h"
#include "roost/node/thread_placement.h"

namespace roost::lb {

namespace {

constexpr uint32_t kBuffersPerQueue = 4'096;  // of a port, for each worker

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
    auto capture = io::summarize_capture(device.rx_paths.front());
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

Result<std::vector<io::Port>> open_ports(const Config& config, uint64_t owner_seed,
                                         const io::BufferPool& pool) {
  std::vector<io::Port> ports;
  ports.reserve(config.ports.size());
  for (const PortConfig& port : config.ports) {
    auto opened = io::Port::create({.id = static_cast<uint16_t>(ports.size()),
                                    .worker_count = static_cast<uint16_t>(*config.workers),
                                    .mac = port.mac,
                                    .mtu = port.mtu,
                                    .promiscuous = port.promiscuous,
                                    .rss_input = port.rss,
                                    .rss_key = node::rss_key(owner_seed)},
                                   pool);
    if (!opened) return opened.error();
    if (*config.workers > 1 && port.rss != net::RssInput::kBoth && !opened.value().is_steered()) {
      fmt::print(stderr,
                 "roost: port {} ({}) cannot spread by the {} address alone; workers hand over "
                 "what another one owns\n",
                 ports.size(), opened.value().device_name(),
                 kRssInputNames[static_cast<size_t>(port.rss)]);
    }
    ports.push_back(std::move(opened).value());
  }
  return ports;
}

// What their senders and the kernel leave to network cards is said once each.
std::unique_ptr<node::OffloadWatch> watch_offloads(std::span<const std::string> eal_arguments,
                                                   std::span<const ControlledWorker> workers,
                                                   const cpu_set_t& allowed) {
  const auto devices = io::read_device_arguments(eal_arguments);
  if (!devices) return {};
  std::vector<std::string> interfaces;
  for (const io::DeviceArgument& device : devices.value()) {
    if (!device.interface.empty()) interfaces.push_back(device.interface);
  }
  std::vector<unsigned> cores;
  for (const ControlledWorker& worker : workers) cores.push_back(worker.core);
  const node::ControlPlacement placement(allowed, cores);
  return std::make_unique<node::OffloadWatch>(
      interfaces, [](const std::string& finding) { fmt::print(stderr, "roost: {}\n", finding); });
}

// The captures, by one worker in the time of the packets; what became of each.
Result<std::vector<CaptureTotals>> replay(Workers& workers, const Config& config,
                                          const io::Eal& eal, std::vector<io::Port>& ports,
                                          std::span<const Replay> replays) {
  std::vector<io::CaptureMerge::Source> sources;
  for (const Replay& replay : replays) {
    const std::optional<uint16_t> port = eal.find_port(replay.device);
    if (!port) return Error{"DPDK made no port of --vdev=" + replay.device};
    sources.push_back({&ports[*port], replay.capture.packet_count});
  }
  auto merge = io::CaptureMerge::create(sources, config.tick_microseconds);
  if (!merge) return merge.error();
  workers.run_captures(merge.value());
  std::vector<CaptureTotals> totals;
  for (size_t i = 0; i < replays.size(); ++i) {
    const io::CaptureSummary& capture = replays[i].capture;
    const auto source = merge.value().report(i);
    totals.push_back({capture.path, capture.packet_count, source.delivered, source.lost,
                      source.missing, capture.cut_reason});
  }
  return totals;
}

std::vector<std::string> device_names(std::span<const io::Port> ports) {
  std::vector<std::string> names;
  for (const io::Port& port : ports) names.push_back(port.device_name());
  return names;
}

// On a control thread: DPDK lets any thread ask a device.
void read_devices(std::span<const io::Port> ports, std::span<PortTotals> totals) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const io::DeviceCounters device = ports[i].read_device_counters();
    totals[i].device = ports[i].device_name();
    totals[i].device_missed = device.missed + device.no_buffer;
    totals[i].device_errors = device.receive_errors + device.transmit_errors;
  }
}

std::vector<PortLink> read_links(std::span<const io::Port> ports) {
  std::vector<PortLink> links;
  for (const io::Port& port : ports) links.push_back({port.device_name(), port.is_link_up()});
  return links;
}

Result<RunOutcome> run_with_ports(const Config& config, uint64_t owner_seed, const io::Eal& eal,
                                  std::vector<io::Port>& ports, std::span<const Replay> replays,
                                  const RunOptions& options, const cpu_set_t& allowed) {
  auto workers = Workers::create(config, ports, owner_seed, *options.stop);
  if (!workers) return workers.error();
  Observation observation(config, {.datapaths = workers.value()->datapaths(),
                                   .room = &workers.value()->room(),
                                   .ports = device_names(ports),
                                   .is_replay = !replays.empty(),
                                   .tell = log_event});
  // From now on others may ask, as soon as packets flow, and until they flow no more.
  auto control = ControlPlane::start(
      config,
      {.workers = workers.value()->controlled(),
       .room = &workers.value()->room(),
       .read_devices = [&](std::span<PortTotals> totals) { read_devices(ports, totals); },
       .io_version = io::dpdk_version(),
       .config_path = options.config_path,
       .trace = [&](const Json& parameters) { return observation.trace(parameters); },
       .begin = [&] { return observation.begin(options.watch); },
       .tell = log_event,
       .read_links = [&] { return read_links(ports); }},
      allowed);
  if (!control) return control.error();
  std::optional<ControlPlane> plane(std::move(control).value());
  const auto began = std::chrono::steady_clock::now();
  std::vector<CaptureTotals> captures;
  if (replays.empty()) {
    const auto offloads =
        watch_offloads(options.eal_arguments, workers.value()->controlled(), allowed);
    workers.value()->run_live();
  } else {
    auto replayed = replay(*workers.value(), config, eal, ports, replays);
    if (!replayed) return replayed.error();
    captures = std::move(replayed).value();
  }
  plane.reset();
  std::optional<Error> capture_error = observation.finish();
  RunTotals totals = workers.value()->totals();
  totals.captures = std::move(captures);
  read_devices(ports, totals.ports);
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return RunOutcome{make_report(workers.value()->states(), std::move(totals)),
                    std::move(capture_error)};
}

// How many workers there will be: a replay has one, so that it repeats; else as many as the
// configuration says, or as the user named cores for.
Result<uint32_t> count_workers(const Config& config, std::span<const std::string> eal_arguments,
                               bool is_replay) {
  if (is_replay) {
    if (config.workers.value_or(1) > 1)
      fmt::print(stderr,
                 "roost: captures are replayed by one worker, in the order of their time\n");
    return 1;
  }
  const auto lcores = static_cast<uint32_t>(io::lcore_count());
  if (!config.workers) return io::names_lcores(eal_arguments) ? lcores : 1;
  if (*config.workers <= lcores) return *config.workers;
  return Error{fmt::format(
      "[lb] workers = {}, and DPDK has {} cores for them; name as many with -l, or have fewer",
      *config.workers, lcores)};
}

}  // namespace

Result<RunOutcome> run_on_ports(const Config& config, const RunOptions& options) {
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
  const bool is_replay = !replays.value().empty();
  auto worker_count = count_workers(config, options.eal_arguments, is_replay);
  if (!worker_count) return worker_count.error();
  Config run_config = config;
  run_config.workers = worker_count.value();
  // A replay must repeat: without a configured seed it takes a fixed one.
  if (is_replay && !config.table.hash_seed) run_config.table.hash_seed = 1;

  const auto buffer_count = static_cast<uint32_t>(std::max<size_t>(2, config.ports.size()) *
                                                  worker_count.value() * kBuffersPerQueue);
  auto pool = io::BufferPool::create({.buffer_count = buffer_count});
  if (!pool) return pool.error();
  // Another one than the tables have.
  const uint64_t owner_seed =
      run_config.table.hash_seed ? *run_config.table.hash_seed + 1 : random_seed();
  auto ports = open_ports(run_config, owner_seed, pool.value());
  if (!ports) return ports.error();
  return run_with_ports(run_config, owner_seed, eal.value(), ports.value(), replays.value(),
                        options, allowed);
}

}  // namespace roost::lb
