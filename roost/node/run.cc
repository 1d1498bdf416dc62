#include "roost/node/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "roost/capture/summary.h"
#include "roost/hash/random_seed.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/capture_arguments.h"
#include "roost/io/capture_merge.h"
#include "roost/io/clock.h"
#include "roost/io/eal.h"
#include "roost/io/lcores.h"
#include "roost/node/flow_owner.h"

namespace roost::node {

namespace {

// A capture to be replayed, and the device that will do it.
struct Replay {
  std::string device;
  capture::Summary capture;
};

// Reads every capture once. A run replays captures as soon as one of its devices does; the other
// devices only send then.
Result<std::vector<Replay>> find_replays(std::span<const std::string> eal_arguments) {
  auto devices = io::read_device_arguments(eal_arguments);
  if (!devices) return devices.error();
  std::vector<Replay> replays;
  for (const io::DeviceArgument& device : devices.value()) {
    if (!device.is_replay()) continue;
    auto capture = capture::summarize(device.rx_paths.front());
    if (!capture) return capture.error();
    replays.push_back({device.name, std::move(capture).value()});
  }
  return replays;
}

// What an operator should know of a capture before it is replayed.
void say_what_is_odd(const capture::Summary& capture, const RunOptions::Notice& notice) {
  if (capture.cut_reason) {
    notice(fmt::format("{}: the file is cut {}; its {} whole packets are replayed", capture.path,
                       *capture.cut_reason, capture.packet_count));
  }
  if (capture.snapped_count != 0) {
    notice(fmt::format(
        "{}: {} packets were captured in part only and count as truncated; capture with a larger "
        "snapshot length",
        capture.path, capture.snapped_count));
  }
  if (capture.backward_count != 0) {
    notice(fmt::format(
        "{}: {} packets are stamped earlier than the one before; they are replayed in the file's "
        "order, at the time of the latest",
        capture.path, capture.backward_count));
  }
}

Result<std::vector<io::Port>> open_ports(const RunConfig& config, const RunPlan& plan,
                                         const io::BufferPool& pool,
                                         const RunOptions::Notice& notice) {
  std::vector<io::Port> ports;
  ports.reserve(config.ports.size());
  for (io::Port::Config port : config.ports) {
    port.id = static_cast<uint16_t>(ports.size());
    port.worker_count = static_cast<uint16_t>(plan.worker_count);
    port.rss_key = rss_key(plan.owner_seed);
    auto opened = io::Port::create(port, pool);
    if (!opened) return opened.error();
    if (plan.worker_count > 1 && port.rss_input != net::RssInput::kBoth &&
        !opened.value().is_steered()) {
      notice(fmt::format(
          "port {} ({}) cannot spread by the {} address alone; workers hand off what another one "
          "owns",
          ports.size(), opened.value().device_name(),
          l3::kRssInputNames[static_cast<size_t>(port.rss_input)]));
    }
    ports.push_back(std::move(opened).value());
  }
  return ports;
}

// The captures, by one worker in the time of the packets; what became of each.
Result<std::vector<CaptureTotals>> replay(Workers& workers, const RunConfig& config,
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
    const capture::Summary& capture = replays[i].capture;
    const auto source = merge.value().report(i);
    totals.push_back({capture.path, capture.packet_count, source.delivered, source.lost,
                      source.missing, capture.cut_reason});
  }
  return totals;
}

// How many workers there will be: a replay has one, so that it repeats; else as many as the
// configuration says, or as the user named cores for.
Result<uint32_t> count_workers(const RunConfig& config, const RunOptions& options, bool is_replay) {
  if (is_replay) {
    if (config.workers.count.value_or(1) > 1) {
      options.notice("captures are replayed by one worker, in the order of their time");
    }
    return 1;
  }
  const auto lcores = static_cast<uint32_t>(io::lcore_count());
  if (!config.workers.count) return io::names_lcores(options.eal_arguments) ? lcores : 1;
  if (*config.workers.count <= lcores) return *config.workers.count;
  return Error{fmt::format(
      "{} workers = {}, and DPDK has {} cores for them; name as many with -l, or have fewer",
      config.section, *config.workers.count, lcores)};
}

std::optional<Error> run_with_ports(const RunConfig& config, const RunPlan& plan,
                                    const io::Eal& eal, std::vector<io::Port>& ports,
                                    std::span<const Replay> replays, const RunOptions& options,
                                    RunFunction& function) {
  auto workers = Workers::create(
      {.count = plan.worker_count,
       .owner_seed = plan.owner_seed,
       .clock = plan.clock,
       .pause_microseconds = config.workers.pause_microseconds,
       .make = [&](const WorkerSeat& seat) { return function.make_worker(seat); },
       .on_second = [&](size_t worker,
                        const WorkerCounters& counters) { function.on_second(worker, counters); },
       .may_stop = [&] { return function.may_stop(); }},
      ports, *options.stop);
  if (!workers) return workers.error();
  if (auto error = function.begin(*workers.value(), ports)) return error;
  const auto began = std::chrono::steady_clock::now();
  std::vector<CaptureTotals> captures;
  if (replays.empty()) {
    while (!workers.value()->run_live() && function.goes_on()) continue;
  } else {
    auto replayed = replay(*workers.value(), config, eal, ports, replays);
    if (!replayed) {
      workers.value()->close_mailboxes();
      function.end();
      return replayed.error();
    }
    captures = std::move(replayed).value();
  }
  workers.value()->close_mailboxes();
  function.end();
  RunTotals totals = workers.value()->totals();
  totals.captures = std::move(captures);
  read_devices(ports, totals.ports);
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  totals.cycles_per_second = io::cycles_per_second();
  function.finish(std::move(totals));
  return {};
}

}  // namespace

std::vector<io::Port::Config> ports_of(std::span<const l3::PortConfig> ports) {
  std::vector<io::Port::Config> configs;
  for (const l3::PortConfig& port : ports) {
    configs.push_back(
        {.mac = port.mac, .mtu = port.mtu, .promiscuous = port.promiscuous, .rss_input = port.rss});
  }
  return configs;
}

std::optional<Error> run_on_ports(const RunConfig& config, const RunOptions& options,
                                  RunFunction& function) {
  auto replays = find_replays(options.eal_arguments);
  if (!replays) return replays.error();
  for (const Replay& replay : replays.value()) say_what_is_odd(replay.capture, options.notice);

  auto eal = io::Eal::start(options.eal_arguments);
  if (!eal) return eal.error();
  if (eal.value().port_count() != config.ports.size()) {
    return Error{
        fmt::format("DPDK has {} ports and the configuration {}; give one [[port]] for "
                    "each, in DPDK's order",
                    eal.value().port_count(), config.ports.size())};
  }
  const bool is_replay = !replays.value().empty();
  auto worker_count = count_workers(config, options, is_replay);
  if (!worker_count) return worker_count.error();
  RunPlan plan{.worker_count = worker_count.value(),
               .hash_seed = config.hash_seed,
               .is_replay = is_replay,
               .takes_over = options.takes_over};
  // A replay must repeat: without a configured seed it takes a fixed one.
  if (is_replay && !plan.hash_seed) plan.hash_seed = 1;
  // Another one than the tables have.
  plan.owner_seed = plan.hash_seed ? *plan.hash_seed + 1 : random_seed();
  plan.clock = io::TickClock(static_cast<double>(config.tick_microseconds) / 1'000'000).origin();
  if (auto error = function.prepare(plan)) return error;

  const auto buffer_count = static_cast<uint32_t>(std::max<size_t>(2, config.ports.size()) *
                                                  plan.worker_count * config.workers.buffers);
  auto pool = io::BufferPool::create({.buffer_count = buffer_count});
  if (!pool) return pool.error();
  auto ports = open_ports(config, plan, pool.value(), options.notice);
  if (!ports) return ports.error();
  return run_with_ports(config, plan, eal.value(), ports.value(), replays.value(), options,
                        function);
}

void read_devices(std::span<const io::Port> ports, std::span<PortTotals> totals) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const io::DeviceCounters device = ports[i].read_device_counters();
    totals[i].device = ports[i].device_name();
    totals[i].device_missed = device.missed + device.no_buffer;
    totals[i].device_errors = device.receive_errors + device.transmit_errors;
  }
}

std::vector<std::string> device_names(std::span<const io::Port> ports) {
  std::vector<std::string> names;
  for (const io::Port& port : ports) names.push_back(port.device_name());
  return names;
}

}  // namespace roost::node
