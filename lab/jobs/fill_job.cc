// Times insertions: every contestant is filled from empty, and the time to each load is taken on
// the way. A round fills each of them once, in every form.
//
// A table is emptied between fills and keeps its memory, so that no round pays for fresh pages but
// the warm-up.
#include <fmt/format.h>

#include <utility>

#include "lab/jobs/job.h"
#include "lab/jobs/line_up_on_cores.h"

namespace roost::lab {
namespace {

class FillJob {
 public:
  FillJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), keys_(keys_of_core(config, 0)) {}

  Result<Rows> run() {
    auto made = make_contenders(config_, rows_);
    if (!made) return made.error();
    const unsigned rounds = config_.warm_up_rounds + config_.rounds;
    for (unsigned round = 0; round < rounds; ++round) {
      for (const Contender& contender : made.value()) {
        progress_(static_cast<double>(round) / rounds,
                  fmt::format("filling {}", contender.entry->name));
        if (const auto wrong = fill_all_forms(contender, round)) return *wrong;
      }
    }
    return std::move(rows_);
  }

 private:
  std::optional<Error> fill_all_forms(const Contender& contender, unsigned round) {
    AnyTable& table = contender.table();
    if (!table.can_clear()) {
      if (round == 0) {
        rows_.push_back(not_run(row_of(config_, config_.loads.back(), contender.name()),
                                "it cannot be emptied and filled again"));
      }
      return std::nullopt;
    }
    for (const Call& call : config_.calls) {
      if (call.names_next || (!table.inserts_batches() && &call != &config_.calls.front()))
        continue;
      table.clear();
      if (const auto wrong = fill_once(contender, call, round)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<Error> fill_once(const Contender& contender, Call call, unsigned round) {
    AnyTable& table = contender.table();
    uint64_t filled = 0;
    double seconds = 0;
    uint64_t kicks = table.stats() ? table.stats()->kicks : 0;
    for (const double load : config_.loads) {
      const uint64_t past = entries_at(config_, load);
      const auto inserted = table.insert(keys_, filled, past, call.lanes);
      filled += inserted.stored;
      seconds += inserted.seconds;
      RecordRow row = row_of(config_, load, contender.name());
      row.form = table.inserts_batches() ? fmt::format("{} keys a call", call.lanes) : "one by one";
      row.lanes_per_call = table.inserts_batches() ? call.lanes : 1;
      row.metric = "inserts_m_per_s";
      describe(row, table, keys_.inserted(0));
      if (filled != past) {
        if (round == 0)
          rows_.push_back(not_run(row, fmt::format("it refused a key after {} entries", filled)));
        break;
      }
      row.operations = past;
      row.seconds = seconds;
      row.value = static_cast<double>(past) / seconds / 1e6;
      if (const auto stats = table.stats()) {
        row.kicks_per_insert =
            static_cast<double>(stats->kicks - kicks) / static_cast<double>(past);
      }
      if (round < config_.warm_up_rounds) continue;
      row.round = round - config_.warm_up_rounds;
      rows_.push_back(std::move(row));
    }
    return wrong_in_sample(config_, table, 0, filled);
  }

  const JobConfig& config_;
  const Progress& progress_;
  traffic::KeySource keys_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_fill_job(const JobConfig& config, const Progress& progress) {
  return FillJob(config, progress).run();
}

}  // namespace roost::lab
