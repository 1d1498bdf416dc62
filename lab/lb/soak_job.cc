#include "lab/lb/soak_job.h"

#include <fmt/format.h>
#include <malloc.h>
#include <threads.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lab/harness/pinned_core.h"
#include "lab/lb/cell_tables.h"
#include "lab/lb/lcore_thread.h"
#include "lab/lb/soak_worker.h"
#include "roost/base/assert.h"

namespace roost::lab {
namespace {

// That all threads have taken and not given back.
size_t heap_bytes() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

using Work = std::optional<Error> (SoakWorker::*)();

// A part of a worker's, in a thread of its own.
//
// The heap keeps what a thread has freed for that thread until it ends; so it ends. Threads are
// C's, because one of std frees what its maker has taken, and the heap would have less behind it
// than before.
//
// The heap has an arena for each thread that takes from it at the same time, and keeps it. So all
// threads have one before the first goes on: if one had ended before another began, there would be
// an arena more only the next time.
struct Turn {
  SoakWorker* worker;
  Work work;
  int core;
  std::latch* all_have_arenas;
  thrd_t thread{};
  std::optional<Error> error{};

  void begin() {
    const auto take = [](void* of) {
      auto& turn = *static_cast<Turn*>(of);
      static_cast<void>(pin_to_core(turn.core));  // rows name the core
      const auto lcore = std::make_unique<LcoreThread>();
      turn.all_have_arenas->arrive_and_wait();
      turn.error = (turn.worker->*turn.work)();
      return 0;
    };
    const bool is_made = thrd_create(&thread, take, this) == thrd_success;
    ROOST_ASSERT(is_made);
  }
  void end() { thrd_join(thread, nullptr); }
};

class SoakJob {
 public:
  SoakJob(const SoakJobConfig& config, const Progress& progress)
      : config_(config), progress_(progress) {}

  Result<Rows> run() {
    if (auto error = prepare()) return *error;
    // A first time, so that what is taken once and kept has been taken: a thread's stack, a pool
    // for as many entries as there can be.
    if (auto error = on_all(&SoakWorker::fill_and_end)) return *error;
    const size_t heap_before = heap_bytes();
    if (auto error = on_all(&SoakWorker::soak)) return *error;
    const size_t heap_after = heap_bytes();
    if (heap_before != heap_after) {
      return Error{
          fmt::format("the heap held {} bytes before and {} after", heap_before, heap_after)};
    }
    for (const auto& cell : cells_) {
      if (cell->entry_count() != 0)
        return Error{fmt::format("{} entries are left in a table", cell->entry_count())};
    }
    return rows(heap_after - heap_before);
  }

 private:
  [[nodiscard]] size_t worker_count() const { return config_.cores.size(); }

  std::optional<Error> prepare() {
    if (!do_connections_end(config_.cell))
      return Error{fmt::format("connections do not end in the cell \"{}\"", config_.cell)};
    const uint64_t of_each = config_.connections / worker_count();
    auto cells = make_cells(config_.cell, {.mode = "nat",
                                           .connections = of_each,
                                           .established_seconds = SoakTraffic::kEstablishedTicks,
                                           .closed_seconds = SoakTraffic::kClosedTicks,
                                           .tick_seconds = 1,
                                           .hash_seed = config_.seed,
                                           .both_ends = true,
                                           .worker_count = worker_count()});
    if (!cells) return cells.error();
    cells_ = std::move(cells).value();
    for (const auto& cell : cells_) {
      workers_.push_back(
          std::make_unique<SoakWorker>(*cell,
                                       SoakWorker::Config{.connections = of_each,
                                                          .seconds = config_.seconds,
                                                          .seed = config_.seed + workers_.size()},
                                       workers_.empty() ? progress_ : silent_));
    }
    return {};
  }

  // Each worker's part at once, on its core.
  std::optional<Error> on_all(Work work) {
    std::latch all_have_arenas(static_cast<ptrdiff_t>(worker_count()));
    std::vector<Turn> turns;
    for (size_t worker = 0; worker < worker_count(); ++worker)
      turns.push_back({workers_[worker].get(), work, config_.cores[worker], &all_have_arenas});
    for (Turn& turn : turns) turn.begin();
    for (Turn& turn : turns) turn.end();
    for (Turn& turn : turns)
      if (turn.error) return turn.error;
    return {};
  }

  [[nodiscard]] RecordRow row_of(std::string_view form) const {
    RecordRow row;
    row.experiment = config_.experiment;
    row.contestant = config_.cell;
    row.form = form;
    row.workload = "churn";
    row.slots = config_.connections;
    row.entries = config_.connections;
    row.load = SoakTraffic::kLoad;
    row.core_count = worker_count();
    row.table_bytes = 0;
    for (const auto& cell : cells_) *row.table_bytes += cell->memory_bytes();
    row.page_bytes = cells_.front()->page_kind() == PageKind::kHuge2MiB ? 2U << 20 : 4U << 10;
    row.core = config_.cores.front();
    row.seed = config_.seed;
    row.round = 0;
    row.note = "synthetic packets";
    return row;
  }

  [[nodiscard]] Rows rows(uint64_t heap_bytes_left) const {
    Rows rows;
    const auto add = [&rows](const RecordRow& like, const char* metric, double value) {
      rows.push_back(like);
      rows.back().metric = metric;
      rows.back().value = value;
    };
    const auto first = workers_.front()->phases();
    for (size_t phase = 0; phase < first.size(); ++phase) {
      RecordRow row = row_of(first[phase].name);
      row.operations = first[phase].times.batches.total();
      add_quantiles(row, first[phase].times.batches, rows);
      double load_min = first[phase].load_min;
      double load_max = first[phase].load_max;
      for (const auto& worker : workers_) {
        load_min = std::min(load_min, worker->phases()[phase].load_min);
        load_max = std::max(load_max, worker->phases()[phase].load_max);
      }
      add(row, "load_min", load_min);
      add(row, "load_max", load_max);
    }
    SoakCounts done;
    lb::FlowCounts flows;
    for (size_t worker = 0; worker < worker_count(); ++worker) {
      done += workers_[worker]->counts();
      flows += cells_[worker]->flow_counts();
    }
    for (const auto& [metric, count] :
         {std::pair("packets", done.packets), std::pair("flows_begun", done.begun),
          std::pair("flows_refused", done.refused), std::pair("packets_lost", done.lost),
          std::pair("flood_packets", done.flood), std::pair("flows_created", flows.created),
          std::pair("flows_ended", flows.ended), std::pair("flows_expired", flows.expired),
          std::pair("flows_evicted", flows.evicted), std::pair("flows_left", flows.held()),
          std::pair("heap_bytes_left", heap_bytes_left)})
      add(row_of("whole run"), metric, static_cast<double>(count));
    return rows;
  }

  const SoakJobConfig& config_;
  const Progress& progress_;  // the first worker's
  const Progress silent_ = [](double, const std::string&) {};
  std::vector<std::unique_ptr<Cell>> cells_;  // by worker
  std::vector<std::unique_ptr<SoakWorker>> workers_;
};

}  // namespace

Result<Rows> run_soak_job(const SoakJobConfig& config, const Progress& progress) {
  return SoakJob(config, progress).run();
}

}  // namespace roost::lab
