// Times replacements: at each load, entries leave and others arrive, one erasure and one insertion
// in turn, each a call of one key. A pass replaces some and then brings them back, so that every
// pass of every round finds the same entries; contestants take turns within a round.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/jobs/job.h"
#include "lab/jobs/line_up_on_cores.h"
#include "lab/jobs/replacement.h"

namespace roost::lab {
namespace {

class ReplacementJob {
 public:
  ReplacementJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), keys_(keys_of_core(config, 0)) {}

  Result<Rows> run() {
    auto made = make_contenders(config_, rows_);
    if (!made) return made.error();
    std::vector<Contender> contenders = std::move(made).value();
    double load_before = 0;
    for (const double load : config_.loads) {
      say(load, 0, "filling");
      fill_contenders(config_, load_before, load, contenders, rows_);
      load_before = load;
      const unsigned rounds = config_.warm_up_rounds + config_.rounds;
      for (unsigned round = 0; round < rounds; ++round) {
        say(load, static_cast<double>(round) / rounds, "replacing");
        std::erase_if(contenders,
                      [&](const Contender& contender) { return !pass(contender, load, round); });
      }
      for (const Contender& contender : contenders) {
        const uint64_t entries = entries_at(config_, load);
        if (const auto wrong = wrong_in_sample(config_, contender.table(), 0, entries))
          return *wrong;
      }
    }
    return std::move(rows_);
  }

 private:
  void say(double load, double share, const std::string& what) const {
    const auto done = static_cast<double>(
        std::find(config_.loads.begin(), config_.loads.end(), load) - config_.loads.begin());
    progress_((done + share) / static_cast<double>(config_.loads.size()),
              fmt::format("{} at load {}", what, load));
  }

  // False, and a row that says why, when an entry could not be replaced.
  bool pass(const Contender& contender, double load, unsigned round) {
    AnyTable& table = contender.table();
    const uint64_t places = entries_at(config_, load);
    const uint64_t steps = std::min<uint64_t>(config_.lookups / 2, places);
    RecordRow row = row_of(config_, load, contender.name());
    row.workload = "replacement";
    row.form = "one by one";
    row.lanes_per_call = 1;
    row.metric = "replacements_m_per_s";
    describe(row, table, keys_.inserted(0));
    const auto away = replace_entries(table, keys_, {places, steps, 0, 1});
    const auto back = replace_entries(table, keys_, {places, away.stored, 1, 0});
    const uint64_t stored = away.stored + back.stored;
    if (stored != 2 * steps) {
      rows_.push_back(not_run(row, fmt::format("it failed after {} replacements", stored)));
      return false;
    }
    if (round < config_.warm_up_rounds) return true;
    row.round = round - config_.warm_up_rounds;
    row.operations = stored;
    row.seconds = away.seconds + back.seconds;
    row.value = static_cast<double>(stored) / *row.seconds / 1e6;
    rows_.push_back(std::move(row));
    return true;
  }

  const JobConfig& config_;
  const Progress& progress_;
  traffic::KeySource keys_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_replacement_job(const JobConfig& config, const Progress& progress) {
  return ReplacementJob(config, progress).run();
}

}  // namespace roost::lab
