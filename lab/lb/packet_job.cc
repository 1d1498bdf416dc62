#include "lab/lb/packet_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "lab/lb/balancer.h"
#include "lab/lb/frame_batch.h"
#include "lab/lb/packet_runner.h"
#include "lab/lb/raw_functions.h"
#include "lab/lb/rte_hash_tables.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/eal.h"
#include "roost/io/lcores.h"

namespace roost::lab {
namespace {

constexpr uint16_t kDataRoomBytes = 128;      // the least that a buffer may have
constexpr uint32_t kBuffersInFlight = 4'096;  // of each worker

// A raw function; it knows no flows.
template <class RawFunction>
class RawHolder {
 public:
  using Function = RawFunction;

  [[nodiscard]] Function& function() { return function_; }
  [[nodiscard]] std::optional<Error> fill(std::span<const uint32_t>, Tick) const { return {}; }
  [[nodiscard]] std::optional<Error> wrong(uint64_t) const {
    if constexpr (std::is_same_v<Function, RawIoAndParse>) {
      if (function_.key_sum() == 0) return Error{"raw_io_parse: no keys were made"};
    }
    return {};
  }
  [[nodiscard]] uint64_t memory_bytes() const { return 0; }

 private:
  Function function_;
};

template <class Tables>
class BalancerHolder {
 public:
  using Function = lb::BasicDatapath<Tables>;

  explicit BalancerHolder(std::unique_ptr<Balancer<Tables>> balancer)
      : balancer_(std::move(balancer)) {}

  [[nodiscard]] Function& function() { return balancer_->datapath(); }
  [[nodiscard]] std::optional<Error> fill(std::span<const uint32_t> flows, Tick now) {
    FrameBatch frames;
    while (!flows.empty()) {
      const size_t count = std::min(flows.size(), net::kBatchLanesMax);
      frames.clear();
      for (const uint32_t flow : flows.first(count)) frames.push(request_of(flow));
      function().process(frames.batch(), now);
      for (const net::LaneVerdict& verdict : frames.batch().verdicts())
        if (!verdict.is_forward())
          return Error{"a flow was refused that the table has a place for"};
      flows = flows.subspan(count);
    }
    return {};
  }
  // Every flow is there, and was created once.
  [[nodiscard]] std::optional<Error> wrong(uint64_t flows) {
    const lb::FlowCounts counts = balancer_->state().tracker().counts();
    const uint64_t live = balancer_->state().tracker().count_live();
    if (counts.created == flows && live == flows) return {};
    return Error{
        fmt::format("of {} flows {} were created and {} are live", flows, counts.created, live)};
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return balancer_->state().ipv4().connections().memory_bytes();
  }
  [[nodiscard]] PageKind page_kind() const {
    return balancer_->state().ipv4().connections().page_kind();
  }

 private:
  std::unique_ptr<Balancer<Tables>> balancer_;
};

// A folder for captures, which are read when the port starts and not needed after that.
class CaptureFolder {
 public:
  CaptureFolder()
      : path_(std::filesystem::temp_directory_path() / fmt::format("roost-lab-{}", getpid())) {
    std::filesystem::create_directory(path_);
  }
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;
  ~CaptureFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(size_t worker) const {
    return path_ / fmt::format("{}.pcap", worker);
  }

 private:
  std::filesystem::path path_;
};

class PacketJob {
 public:
  PacketJob(const PacketJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), flows_of_(config.cores.size()) {}

  Result<Rows> run() {
    if (const auto error = open_port()) return *error;
    if (const auto error = make_runners()) return *error;
    if (const auto error = fill()) return *error;
    for (unsigned round = 0; round < config_.rounds; ++round) time_round(round);
    if (const auto error = check()) return *error;
    return std::move(rows_);
  }

 private:
  [[nodiscard]] size_t worker_count() const { return config_.cores.size(); }
  [[nodiscard]] node::FlowOwner owner(size_t worker) const {
    return node::FlowOwner(
        {.worker_count = worker_count(), .worker = worker, .seed = config_.seed + 1});
  }

  std::optional<Error> open_port() {
    progress_(0, "writing the flows");
    const CaptureFolder folder;
    std::vector<std::string> paths;
    std::string device = "--vdev=net_pcap0,infinite_rx=1";
    std::string lcores;
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      paths.push_back(folder.file(worker));
      device += ",rx_pcap=" + paths.back();
      lcores += fmt::format("{}{}@{}", worker == 0 ? "" : ",", worker, config_.cores[worker]);
    }
    const node::FlowOwner any = owner(0);
    auto error = write_captures(config_.flows, paths, [&](uint64_t flow) {
      const size_t worker = any.owner_of(client_of(flow));
      flows_of_[worker].push_back(static_cast<uint32_t>(flow));
      return worker;
    });
    if (error) return error;

    progress_(0.05, "loading the flows into buffers");
    std::vector<std::string> words = {"--no-pci", "--no-telemetry", "--no-shconf",
                                      "--lcores=" + lcores, device};
    const uint64_t buffers = config_.flows + kBuffersInFlight * worker_count();
    if (config_.pages == PageKind::kHuge2MiB) {
      words.emplace_back("--in-memory");
    } else {
      words.insert(words.end(), {"--no-huge", "-m", fmt::format("{}", 256 + (buffers >> 10) * 2)});
    }
    auto eal = io::Eal::start(words);
    if (!eal) return eal.error();
    eal_.emplace(std::move(eal).value());
    auto pool = io::BufferPool::create(
        {.buffer_count = static_cast<uint32_t>(buffers), .data_room_bytes = kDataRoomBytes});
    if (!pool) return pool.error();
    pool_.emplace(std::move(pool).value());
    auto port = io::Port::create(
        {.worker_count = static_cast<uint16_t>(worker_count()), .promiscuous = true}, *pool_);
    if (!port) return port.error();
    ports_.push_back(std::move(port).value());
    clock_.emplace(1.0);
    return {};
  }

  template <class Holder>
  void add(const char* name, std::vector<std::unique_ptr<Holder>> holders) {
    runners_.push_back(
        std::make_unique<HolderRunner<Holder>>(name, std::move(holders), ports_, *clock_));
  }

  template <class RawFunction>
  void add_raw(const char* name) {
    std::vector<std::unique_ptr<RawHolder<RawFunction>>> holders;
    for (size_t worker = 0; worker < worker_count(); ++worker)
      holders.push_back(std::make_unique<RawHolder<RawFunction>>());
    add(name, std::move(holders));
  }

  template <class Tables>
  std::optional<Error> add_balancer(const char* name) {
    std::vector<std::unique_ptr<BalancerHolder<Tables>>> holders;
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      auto balancer = Balancer<Tables>::create(
          {.connections = flows_of_[worker].size(), .hash_seed = config_.seed}, owner(worker));
      if (!balancer) return Error{fmt::format("{}: {}", name, balancer.error().message)};
      holders.push_back(std::make_unique<BalancerHolder<Tables>>(std::move(balancer).value()));
      const PageKind pages = holders.back()->page_kind();
      if (config_.pages == PageKind::kHuge2MiB && pages != config_.pages) {
        return Error{fmt::format("{}: its table is on pages of {}", name, page_kind_name(pages))};
      }
    }
    add(name, std::move(holders));
    return {};
  }

  std::optional<Error> make_runners() {
    add_raw<RawIo>("raw_io");
    add_raw<RawIoAndParse>("raw_io_parse");
    if (auto error = add_balancer<conntrack::OwnTables>("balancer")) return error;
    if (!config_.peers) return {};
    return add_balancer<RteHashTables>("balancer_on_rte_hash");
  }

  // Flows arrive in another order than their packets come in later. Else a table that numbers its
  // entries as they arrive, as rte_hash does, would find the next packet's entry beside the last's.
  std::optional<Error> fill() {
    for (size_t worker = 0; worker < worker_count(); ++worker)
      std::ranges::shuffle(flows_of_[worker], std::mt19937_64(config_.seed));
    for (const auto& runner : runners_) {
      progress_(0.2, runner->name() + ": every flow once");
      for (size_t worker = 0; worker < worker_count(); ++worker)
        if (auto error = runner->fill(worker, flows_of_[worker])) return error;
    }
    warm_up();
    return check();
  }

  std::optional<Error> check() {
    for (const auto& runner : runners_) {
      for (size_t worker = 0; worker < worker_count(); ++worker) {
        if (auto error = runner->wrong(worker, flows_of_[worker].size())) return error;
      }
    }
    return {};
  }

  // A pass of each, untimed.
  void warm_up() {
    for (const auto& runner : runners_) {
      std::atomic<size_t> busy = worker_count();
      io::run_on_lcores(worker_count(),
                        [&](size_t worker) { runner->run(worker, config_.packets, busy); });
    }
  }

  // First on one worker, then on two, and so on.
  void time_round(unsigned round) {
    progress_(0.3 + 0.7 * round / config_.rounds, fmt::format("round {}", round + 1));
    for (size_t count = 1; count <= worker_count(); ++count) {
      for (const auto& runner : runners_) {
        std::vector<PacketPass> passes(count);
        std::atomic<size_t> busy = count;
        io::run_on_lcores(count, [&](size_t worker) {
          passes[worker] = runner->run(worker, config_.packets, busy);
        });
        add_row(*runner, round, passes);
      }
    }
  }

  void add_row(const PacketRunner& runner, unsigned round, std::span<const PacketPass> passes) {
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = runner.name();
    row.form = fmt::format("{} worker{}", passes.size(), passes.size() == 1 ? "" : "s");
    row.workload = "uniform";
    row.slots = config_.flows;
    row.entries = config_.flows;
    double packets_a_second = 0;
    uint64_t packets = 0;
    for (const PacketPass& pass : passes) {
      packets_a_second += static_cast<double>(pass.packets) / pass.seconds;
      packets += pass.packets;
    }
    row.key_bytes = net::FlowKey4::kSignificantBytes;
    row.value_bytes = sizeof(lb::Connection);
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
    row.note = fmt::format("{} buffers of {} bytes and a {}-byte frame each", config_.flows,
                           pool_->bytes_of_buffer(), kFrameBytes);
    rows_.push_back(std::move(row));
  }

  const PacketJobConfig& config_;
  const Progress& progress_;
  std::vector<std::vector<uint32_t>> flows_of_;  // by worker
  std::optional<io::Eal> eal_;
  std::optional<io::BufferPool> pool_;
  std::vector<io::Port> ports_;
  std::optional<io::TickClock> clock_;
  std::vector<std::unique_ptr<PacketRunner>> runners_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_packet_job(const PacketJobConfig& config, const Progress& progress) {
  return PacketJob(config, progress).run();
}

}  // namespace roost::lab
