// Times building from sorted entries: see value_job.h.
#include <fmt/format.h>

#include <chrono>

#include "lab/value_tables/value_job.h"

namespace roost::lab {
namespace {

template <class K>
class ValueBuildJob {
 public:
  ValueBuildJob(const ValueJobConfig& config, const Progress& progress, const KeySet<K>& set)
      : config_(config),
        progress_(progress),
        set_(set),
        entries_(entries_of_keys(set.keys, config.value_bits)) {}

  Result<Rows> run() {
    const auto steps = static_cast<double>(config_.loads.size() * config_.rounds);
    double done = 0;
    for (const double load : config_.loads) {
      for (unsigned round = 0; round < config_.rounds; ++round, ++done) {
        // Who begins is another one each time.
        for (size_t i = 0; i < config_.contestants.size(); ++i) {
          const std::string& name = config_.contestants[(i + round) % config_.contestants.size()];
          progress_(done / steps, fmt::format("building {}", name));
          if (const auto wrong = build(name, load, round)) return *wrong;
        }
      }
    }
    return std::move(rows_);
  }

 private:
  // The table goes before the next one comes. All keys are checked in the first round.
  std::optional<Error> build(const std::string& name, double load, unsigned round) {
    using Clock = std::chrono::steady_clock;
    RecordRow row = value_row(config_, load, name);
    const Clock::time_point start = Clock::now();
    const auto made = build_value_table<K>(config_, set_.key_bits, load, name, entries_);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!made) {
      if (round == 0) rows_.push_back(not_run(row, made.error().message));
      return {};
    }
    AnyValueTable<K>& table = *made.value();
    if (round == 0) {
      if (auto wrong = wrong_values<K>(table, entries_)) return wrong;
      describe_values(rows_, value_row(config_, load, name), table);
    }
    row.round = round;
    row.operations = entries_.size();
    row.table_bytes = table.image_bytes();
    row.page_bytes = table.pages().page_bytes;
    rows_.push_back(value_figure(row, "build_seconds", *row.seconds));
    rows_.push_back(value_figure(row, "build_m_per_s",
                                 static_cast<double>(entries_.size()) / *row.seconds / 1e6));
    return {};
  }

  const ValueJobConfig& config_;
  const Progress& progress_;
  const KeySet<K>& set_;
  std::vector<ValueEntry<K>> entries_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_value_build_job(const ValueJobConfig& config, const Progress& progress) {
  return with_key_set(config, [&]<class K>(const KeySet<K>& set) {
    return ValueBuildJob<K>(config, progress, set).run();
  });
}

}  // namespace roost::lab
