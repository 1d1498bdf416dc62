#include "lab/lb/cell_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "lab/harness/pinned_core.h"
#include "lab/lb/cell.h"
#include "lab/lb/cell_tables.h"
#include "lab/lb/lcore_thread.h"
#include "lab/packets/batch_times.h"
#include "roost/net/flow_key.h"

namespace roost::lab {
namespace {

using Packets = std::vector<traffic::StreamPacket>;

struct Contestant {
  std::string name;
  std::vector<std::unique_ptr<Cell>> cells;  // by worker
  std::vector<CellTimes> times;
  std::optional<uint64_t> looks_before{};  // the first round
  CellCounts counts{};
};

class CellJob {
 public:
  CellJob(const CellJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {}

  Result<Rows> run() {
    if (auto error = prepare()) return *error;
    double fastest = kNever;  // of the last untimed stretch
    for (uint64_t done = 0; done < config_.warm_up_packets; done += config_.packets) {
      progress_(0.3 * static_cast<double>(done) / static_cast<double>(config_.warm_up_packets),
                "untimed packets");
      if (!next_packets(worker_count())) return Error{"the stream ends before the first round"};
      fastest = kNever;
      for (Contestant& one : contestants_) {
        const double nanoseconds = nanoseconds_per_packet(one, worker_count());
        if (do_connections_end(one.name)) fastest = std::min(fastest, nanoseconds);
      }
    }
    for (Contestant& one : contestants_) {
      const double rate = kOfferedShare / (fastest * static_cast<double>(worker_count()));
      one.times.assign(worker_count(), CellTimes{.batches = {}, .backlog = Backlog(rate)});
      one.looks_before = one.cells.front()->looks();
    }
    for (unsigned round = 0; round < config_.rounds; ++round) {
      if (!run_round(round, 1)) break;
      if (worker_count() > 1 && !run_round(round, worker_count())) break;
    }
    if (rows_.empty()) return Error{"the stream ends before the first round"};
    if (auto error = check()) return *error;
    for (const Contestant& one : contestants_) add_rows_of_the_end(one);
    return std::move(rows_);
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  [[nodiscard]] size_t worker_count() const { return config_.cores.size(); }

  std::optional<Error> prepare() {
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      traffic::ConnectionStream::Config of_worker = config_.stream;
      of_worker.seed += worker;
      auto stream = traffic::ConnectionStream::create(of_worker);
      if (!stream) return stream.error();
      streams_.push_back(std::move(stream).value());
      packets_.emplace_back(config_.packets);
    }
    const CellSetup setup{.mode = config_.mode,
                          .connections = config_.connections / worker_count(),
                          .established_seconds = config_.established_seconds,
                          .closed_seconds = config_.closed_seconds,
                          .tick_seconds = config_.tick_seconds,
                          .scan_share = config_.scan_share,
                          .scan_period_seconds = config_.scan_period_seconds,
                          .hash_seed = config_.stream.seed,
                          .both_ends = config_.mode == "nat",
                          .worker_count = worker_count()};
    for (const std::string& name : config_.cells) {
      progress_(0, name + ": making its tables");
      auto cells = make_cells(name, setup);
      if (!cells) return Error{fmt::format("{}: {}", name, cells.error().message)};
      contestants_.push_back(
          {name, std::move(cells).value(), std::vector<CellTimes>(worker_count())});
      const PageKind pages = contestants_.back().cells.front()->page_kind();
      if (config_.pages == PageKind::kHuge2MiB && pages != config_.pages && name != kRawCell)
        return Error{fmt::format("{}: its table is on pages of {}", name, page_kind_name(pages))};
    }
    return {};
  }

  // The next stretch of each of the first workers; false when the stream has none.
  [[nodiscard]] bool next_packets(size_t workers) {
    for (size_t worker = 0; worker < workers; ++worker)
      if (streams_[worker].next(packets_[worker]) < config_.packets) return false;
    return true;
  }

  // Sends a stretch through on so many workers at once.
  [[nodiscard]] double nanoseconds_per_packet(Contestant& one, size_t worker_count) {
    std::vector<double> seconds(worker_count);
    std::barrier all_prepared(static_cast<ptrdiff_t>(worker_count));
    const auto work = [&](size_t worker) {
      static_cast<void>(pin_to_core(config_.cores[worker]));  // rows name the core
      const LcoreThread lcore;
      BatchTimes::Clock::duration took{};
      for (std::span<const traffic::StreamPacket> left = packets_[worker]; !left.empty();) {
        const size_t count = std::min(left.size(), Cell::kPreparedMax);
        one.cells[worker]->prepare(left.first(count));
        left = left.subspan(count);
        all_prepared.arrive_and_wait();
        took += one.cells[worker]->run(one.times[worker]);
      }
      seconds[worker] = std::chrono::duration<double>(took).count();
    };
    {
      std::vector<std::jthread> workers;
      for (size_t worker = 0; worker < worker_count; ++worker) workers.emplace_back(work, worker);
    }
    double packets_per_second = 0;
    for (const double of_worker : seconds)
      packets_per_second += static_cast<double>(config_.packets) / of_worker;
    return 1e9 / packets_per_second;
  }

  // On so many workers; false when the stream has ended. Who begins is another one each time.
  [[nodiscard]] bool run_round(unsigned round, size_t workers) {
    if (!next_packets(workers)) return false;
    progress_(0.3 + 0.7 * round / config_.rounds, fmt::format("round {}", round));
    for (size_t i = 0; i < contestants_.size(); ++i) {
      Contestant& one = contestants_[(i + round) % contestants_.size()];
      RecordRow row = row_of(one);
      row.round = round;
      row.metric = "ns_per_packet";
      row.core_count = workers;
      row.operations = config_.packets * workers;
      row.value = nanoseconds_per_packet(one, workers);
      row.seconds = *row.value * static_cast<double>(*row.operations) / 1e9;
      rows_.push_back(row);
    }
    return true;
  }

  [[nodiscard]] RecordRow row_of(const Contestant& one) const {
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = one.name;
    row.form = config_.mode;
    row.workload = fmt::format("{} x{}", config_.stream.profile.name, config_.stream.windows);
    row.slots = config_.connections;
    row.entries = config_.connections;
    row.key_bytes = net::FlowKey4::kSignificantBytes;
    row.value_bytes = sizeof(lb::Connection);
    row.core_count = worker_count();
    row.table_bytes = 0;
    for (const auto& cell : one.cells) *row.table_bytes += cell->memory_bytes();
    row.page_bytes = config_.pages == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
    row.core = config_.cores.front();
    row.seed = config_.stream.seed;
    row.note = "synthetic packets";
    return row;
  }

  // All trackers have seen the same packets at the same time.
  std::optional<Error> check() {
    const Contestant* first = nullptr;
    for (Contestant& one : contestants_) {
      for (const auto& cell : one.cells) {
        one.counts += cell->counts();
        if (!cell->audit()) return Error{one.name + ": an index leads nowhere"};
      }
      if (!do_connections_end(one.name) || has_one_timeout(one.name)) continue;
      if (first == nullptr) first = &one;
      if (one.counts == first->counts) continue;
      return Error{fmt::format("{} forwarded {}, created {} and keeps {}; {}: {}, {}, {}",
                               first->name, first->counts.forwarded, first->counts.created,
                               first->counts.live, one.name, one.counts.forwarded,
                               one.counts.created, one.counts.live)};
    }
    return {};
  }

  void add_rows_of_the_end(const Contestant& one) {
    const RecordRow row = row_of(one);
    add_quantiles(row, one.times.front().batches, rows_);
    if (one.name == kRawCell) return;
    add_row(row, "lost_share_emulated", one.times.front().backlog.lost_share());
    if (const auto looks = one.cells.front()->looks())
      add_row(row, "looks_per_batch",
              static_cast<double>(*looks - *one.looks_before) /
                  static_cast<double>(one.times.front().batches.total()));
    const traffic::Profile& profile = config_.stream.profile;
    const auto begin_a_second = static_cast<uint64_t>(
        static_cast<double>(profile.flows * config_.stream.windows) / profile.seconds);
    for (const auto& [metric, count] :
         {std::pair("packets", one.counts.packets), std::pair("forwarded", one.counts.forwarded),
          std::pair("connections_begin_a_second", begin_a_second),
          std::pair("connections_created", one.counts.created),
          std::pair("connections_live", one.counts.live)})
      add_row(row, metric, static_cast<double>(count));
  }
  void add_row(RecordRow row, const std::string& metric, double value) {
    row.metric = metric;
    row.value = value;
    rows_.push_back(std::move(row));
  }

  const CellJobConfig& config_;
  const Progress& progress_;
  std::vector<traffic::ConnectionStream> streams_;  // by worker
  std::vector<Packets> packets_;                    // of a stretch, by worker
  std::vector<Contestant> contestants_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_cell_job(const CellJobConfig& config, const Progress& progress) {
  return CellJob(config, progress).run();
}

}  // namespace roost::lab
