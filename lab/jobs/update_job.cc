// Times lookups of a table that another thread changes: each round with the writer at rest and at
// work, in turn. After each pass beside the writer, lookups are checked one by one: an answer that
// was true at no moment of its call is counted as wrong, be it stale or another key's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "lab/jobs/job.h"
#include "lab/jobs/line_up_on_cores.h"
#include "lab/jobs/update_writer.h"
#include "lab/jobs/watched_keys.h"

namespace roost::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class UpdateJob {
 public:
  UpdateJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), keys_(keys_of_core(config, 0)) {}

  Result<Rows> run() {
    if (config_.cores.size() != 2 || !config_.shared)
      return Error{"a table under updates has a reader's core and a writer's"};
    auto made = make_contenders(config_, rows_);
    if (!made) return made.error();
    for (const Contender& contender : made.value()) {
      if (const auto wrong = measure(contender)) return *wrong;
    }
    return std::move(rows_);
  }

 private:
  // Entries of the load, of which some pass.
  [[nodiscard]] UpdatedKeys shape() const {
    const uint64_t entries = entries_at(config_, config_.loads.back());
    const uint64_t held = std::min<uint64_t>(uint64_t{1} << 16, entries / 16);
    return {.staying = entries - held, .passing = 2 * held};
  }

  std::optional<Error> measure(const Contender& contender) {
    AnyTable& table = contender.table();
    const double load = config_.loads.back();
    if (!table.has_generations()) {
      rows_.push_back(
          not_run(row_of(config_, load, contender.name()), "nobody may read it while it changes"));
      return std::nullopt;
    }
    const UpdatedKeys updated = shape();
    const uint64_t entries = updated.staying + updated.passing / 2;
    const uint64_t stored = table.insert(keys_, 0, entries, kPlainCall.lanes).stored;
    if (stored != entries) {
      rows_.push_back(not_run(row_of(config_, load, contender.name()),
                              fmt::format("it refused a key after {} entries", stored)));
      return std::nullopt;
    }
    const Stream stream(traffic::query_stream(
        keys_, {.entry_count = updated.staying, .query_count = config_.lookups, .miss_ratio = 0}));
    for (const Call& call : config_.calls) {
      if (!table.form(call)) continue;
      if (const auto wrong = table.first_wrong(stream, call))
        return Error{fmt::format("{}: {}; nothing it says counts", contender.name(), *wrong)};
    }
    WatchedKeys watched(updated.count());
    UpdateWriter writer({.table = &contender.table(1),
                         .watched = &watched,
                         .keys = keys_,
                         .shape = updated,
                         .updates_per_second = config_.updates_per_second,
                         .core = config_.cores[1]});
    for (unsigned round = 0; round < config_.warm_up_rounds + config_.rounds; ++round) {
      progress_(static_cast<double>(round) / (config_.warm_up_rounds + config_.rounds),
                fmt::format("updating {}", contender.name()));
      if (const auto wrong = measure_round(contender, stream, writer, watched, round)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<Error> measure_round(const Contender& contender, const Stream& stream,
                                     UpdateWriter& writer, const WatchedKeys& watched,
                                     unsigned round) {
    for (const Call& call : config_.calls) {
      const auto form = contender.table().form(call);
      if (!form) continue;
      for (const bool is_at_work : {false, true}) {
        const uint64_t changes = writer.changes();
        const auto begun = Clock::now();
        if (is_at_work) writer.start();
        RecordRow row = row_of(config_, config_.loads.back(), contender.name());
        row.form = *form;
        row.lanes_per_call = call.lanes;
        row.miss_ratio = 0;
        row.workload =
            is_at_work ? fmt::format("{} updates/s", config_.updates_per_second) : "idle writer";
        const auto start = Clock::now();
        const PassOutcome outcome = contender.table().pass(stream, call);
        row.seconds = seconds_since(start);
        if (outcome != contender.table().expected(stream))
          return Error{fmt::format("{} ({}): a timed pass found something else than was stored",
                                   contender.name(), *form)};
        if (round >= config_.warm_up_rounds) row.round = round - config_.warm_up_rounds;
        add_rate(row, contender, stream.size());
        if (!is_at_work) continue;
        add_count(row, "wrong_reads", static_cast<double>(wrong_reads(contender, watched)));
        const double rate = static_cast<double>(writer.changes() - changes) / seconds_since(begun);
        writer.rest();
        add_count(row, "updates_k_per_s", rate / 1e3);
        add_count(row, "refused_updates", static_cast<double>(writer.refusals()));
      }
    }
    return std::nullopt;
  }

  void add_rate(RecordRow row, const Contender& contender, size_t lookups) {
    if (!row.round) return;
    row.metric = "lookups_m_per_s";
    row.operations = lookups;
    row.value = static_cast<double>(lookups) / *row.seconds / 1e6;
    describe(row, contender.table(), keys_.inserted(0));
    rows_.push_back(std::move(row));
  }
  void add_count(RecordRow row, const std::string& metric, double value) {
    row.metric = metric;
    row.operations = checked_lookups();
    row.seconds.reset();
    row.value = value;
    if (row.round || metric == "wrong_reads") rows_.push_back(std::move(row));
  }

  [[nodiscard]] uint64_t checked_lookups() const {
    return config_.lookups / 8 / kPlainCall.lanes * kPlainCall.lanes;
  }

  // Of lookups of keys that stay, and one of four that passes.
  uint64_t wrong_reads(const Contender& contender, const WatchedKeys& watched) {
    constexpr size_t kLanes = kPlainCall.lanes;
    const UpdatedKeys updated = shape();
    std::array<uint64_t, kLanes> indices;
    std::array<Key, kLanes> keys;
    std::array<uint8_t, kLanes> before;
    std::array<AnyTable::Seen, kLanes> seen;
    uint64_t wrong = 0;
    for (uint64_t done = 0; done < checked_lookups(); done += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        indices[lane] = lane % 4 == 0 ? updated.staying + draw_.below(updated.passing)
                                      : draw_.below(updated.staying);
        keys[lane] = keys_.inserted(indices[lane]);
        before[lane] = watched.before(indices[lane]);
      }
      contender.table().look_up(keys, seen);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const bool is_right =
            indices[lane] < updated.staying
                ? seen[lane].is_hit && seen[lane].is_of_key &&
                      watched.allows(indices[lane], before[lane], seen[lane].generation)
                : watched.allows_presence(indices[lane], before[lane], seen[lane].is_hit) &&
                      (!seen[lane].is_hit || seen[lane].is_of_key);
        wrong += uint64_t{!is_right};
      }
    }
    return wrong;
  }

  const JobConfig& config_;
  const Progress& progress_;
  traffic::KeySource keys_;
  traffic::Draw draw_{1};
  Rows rows_;
};

}  // namespace

Result<Rows> run_update_job(const JobConfig& config, const Progress& progress) {
  return UpdateJob(config, progress).run();
}

}  // namespace roost::lab
