#include "lab/packets/port_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "roost/io/lcores.h"

namespace roost::lab {

namespace {

constexpr uint32_t kDataRoomBytesMin = 128;   // the least that a buffer may have
constexpr uint32_t kBuffersInFlight = 4'096;  // of each port and worker

}  // namespace

const std::map<std::string, PageKind> kBenchPages = {{"2M", PageKind::kHuge2MiB},
                                                     {"4K", PageKind::kSmall}};

std::optional<Error> PortBench::open(const WriteFrames& write) {
  progress_(0, "writing the frames");
  const CaptureFolder folder;
  std::vector<std::string> paths;
  for (size_t i = 0; i < port_count() * worker_count(); ++i) paths.push_back(folder.file(i));
  auto files = CaptureFiles::create(paths);
  if (!files) return files.error();
  write(files.value());
  if (auto error = files.value().finish()) return error;
  progress_(0.05, "loading the frames into buffers");
  if (auto error = start_eal(paths)) return error;
  return start_ports();
}

std::optional<Error> PortBench::start_eal(std::span<const std::string> paths) {
  std::string lcores;
  for (size_t worker = 0; worker < worker_count(); ++worker) {
    lcores += fmt::format("{}{}@{}", worker == 0 ? "" : ",", worker, config_.cores[worker]);
  }
  std::vector<std::string> words = {"--no-pci", "--no-telemetry", "--no-shconf",
                                    "--lcores=" + lcores};
  for (size_t port = 0; port < port_count(); ++port) {
    std::string device = fmt::format("--vdev=net_pcap{},infinite_rx=1", port);
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      device += ",rx_pcap=" + paths[port * worker_count() + worker];
    }
    words.push_back(std::move(device));
  }
  const uint64_t buffers = config_.frames + kBuffersInFlight * port_count() * worker_count();
  const uint64_t room = std::max<uint64_t>(kDataRoomBytesMin, config_.frame_bytes);
  if (config_.pages == PageKind::kHuge2MiB) {
    words.emplace_back("--in-memory");
  } else {
    const uint64_t megabytes = 256 + (buffers * (room + 1'920) >> 20);
    words.insert(words.end(), {"--no-huge", "-m", fmt::format("{}", megabytes)});
  }
  auto eal = io::Eal::start(words);
  if (!eal) return eal.error();
  eal_.emplace(std::move(eal).value());
  auto pool = io::BufferPool::create({.buffer_count = static_cast<uint32_t>(buffers),
                                      .data_room_bytes = static_cast<uint16_t>(room)});
  if (!pool) return pool.error();
  pool_.emplace(std::move(pool).value());
  return {};
}

std::optional<Error> PortBench::start_ports() {
  for (size_t id = 0; id < port_count(); ++id) {
    auto port = io::Port::create({.id = static_cast<uint16_t>(id),
                                  .worker_count = static_cast<uint16_t>(worker_count()),
                                  .promiscuous = true},
                                 *pool_);
    if (!port) return port.error();
    ports_.push_back(std::move(port).value());
  }
  clock_.emplace(1.0);
  return {};
}

void PortBench::warm_up() {
  for (const auto& runner : runners_) {
    std::atomic<size_t> busy = worker_count();
    io::run_on_lcores(worker_count(),
                      [&](size_t worker) { runner->run(worker, config_.packets, busy); });
  }
}

Rows PortBench::time_all(const Describe& describe) {
  Rows rows;
  for (unsigned round = 0; round < config_.rounds; ++round) {
    say_round(round);
    for (size_t count = 1; count <= worker_count(); ++count) {
      for (const auto& runner : runners_)
        describe(rows.emplace_back(time_one(*runner, round, count)));
    }
  }
  return rows;
}

std::optional<Error> PortBench::wrong() const {
  for (const auto& runner : runners_) {
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      if (auto error = runner->wrong(worker)) return Error{runner->name() + ": " + error->message};
    }
  }
  return {};
}

void PortBench::say_round(unsigned round) const {
  progress_(0.3 + 0.7 * round / config_.rounds, fmt::format("round {}", round + 1));
}

RecordRow PortBench::time_one(PacketRunner& runner, unsigned round, size_t workers) {
  std::vector<PacketPass> passes(workers);
  std::atomic<size_t> busy = workers;
  io::run_on_lcores(
      workers, [&](size_t worker) { passes[worker] = runner.run(worker, config_.packets, busy); });
  return row_of(runner, round, passes);
}

RecordRow PortBench::row_of(const PacketRunner& runner, unsigned round,
                            std::span<const PacketPass> passes) const {
  double packets_a_second = 0;
  uint64_t packets = 0;
  for (const PacketPass& pass : passes) {
    packets_a_second += static_cast<double>(pass.packets) / pass.seconds;
    packets += pass.packets;
  }
  RecordRow row;
  row.experiment = config_.experiment;
  row.contestant = runner.name();
  row.form = fmt::format("{} worker{}", passes.size(), passes.size() == 1 ? "" : "s");
  row.core_count = passes.size();
  row.round = round;
  row.metric = "ns_per_packet";
  row.value = 1e9 / packets_a_second;
  row.operations = packets;
  row.seconds = static_cast<double>(packets) / packets_a_second;
  row.page_bytes = config_.pages == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
  row.table_bytes = runner.memory_bytes();
  row.core = config_.cores.front();
  row.seed = config_.seed;
  row.note = fmt::format("{} buffers of {} bytes and a {}-byte frame each", config_.frames,
                         pool_->bytes_of_buffer(), config_.frame_bytes);
  return row;
}

}  // namespace roost::lab
