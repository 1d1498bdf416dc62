// Counts what needs no clock, while tables fill up: the share of entries away from their primary
// bucket, how many keys are away from how many buckets, how often the hint to look there is wrong,
// the load of the first refusal, and bytes a slot; then, with ages, how many second lines lookups
// touch in the table at its last load, new and after so many replacements of each entry.
//
// The counting twin is filled where there is one. Rows repeat exactly on every machine.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/contestants/line_up.h"
#include "lab/jobs/job.h"
#include "lab/jobs/replacement.h"

namespace roost::lab {
namespace {

class StructureJob {
 public:
  StructureJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), keys_(keys_of_core(config, 0)) {}

  Result<Rows> run() {
    for (size_t i = 0; i < config_.contestants.size(); ++i) {
      const std::string& name = config_.contestants[i];
      progress_(static_cast<double>(i) / static_cast<double>(config_.contestants.size()), name);
      const ContestantEntry* entry = find_contestant(name);
      if (entry == nullptr) return Error{"there is no contestant " + name};
      auto table = (entry->counted ? entry->counted : entry->create)(config_.slots, config_.pages);
      if (table) {
        follow(*table.value(), name);
        if (const auto wrong = age(*table.value(), name)) return *wrong;
      } else {
        rows_.push_back(not_run(row_of(config_, 0, name), table.error().message));
      }
    }
    return std::move(rows_);
  }

 private:
  void follow(AnyTable& table, const std::string& name) {
    uint64_t filled = 0;
    for (const double load : config_.loads) {
      const uint64_t past = entries_at(config_, load);
      filled += table.insert(keys_, filled, past, 1).stored;
      if (filled != past) break;
      add_displaced(table, name, load);
      add_false_positives(table, name, load);
    }
    const double reached = static_cast<double>(filled) / static_cast<double>(config_.slots);
    RecordRow row = row_of(config_, reached, name);
    add(row, "load_reached", reached,
        filled < entries_at(config_, config_.loads.back()) ? "the first refusal"
                                                           : "no refusal up to here");
    row.table_bytes = table.memory_bytes();
    add(row, "bytes_per_slot",
        static_cast<double>(table.memory_bytes()) / static_cast<double>(config_.slots));
  }

  void add(RecordRow row, const std::string& metric, double value, const std::string& note = "") {
    row.metric = metric;
    row.value = value;
    row.note = note;
    rows_.push_back(std::move(row));
  }

  void add_displaced(const AnyTable& table, const std::string& name, double load) {
    const auto stats = table.stats();
    if (!stats) return;
    const RecordRow row = row_of(config_, load, name);
    uint64_t displaced = 0;
    uint64_t buckets = 0;
    for (size_t moved = 0; moved < stats->moved_histogram.size(); ++moved) {
      displaced += moved * stats->moved_histogram[moved];
      buckets += stats->moved_histogram[moved];
    }
    add(row, "displaced_share",
        static_cast<double>(displaced) / static_cast<double>(std::max<uint64_t>(stats->size, 1)));
    for (size_t moved = 0; moved < stats->moved_histogram.size(); ++moved) {
      add(row, fmt::format("buckets_with_{}_moved", moved),
          static_cast<double>(stats->moved_histogram[moved]) / static_cast<double>(buckets));
    }
  }

  // Of queries that must miss: how many went to a second bucket for nothing.
  void add_false_positives(AnyTable& table, const std::string& name, double load) {
    const auto before = table.counts();
    if (!before) return;
    static_cast<void>(
        table.pass(Stream(traffic::query_stream(keys_, {.entry_count = entries_at(config_, load),
                                                        .query_count = config_.lookups,
                                                        .miss_ratio = 1})),
                   kPlainCall));
    const auto after = table.counts();
    add(row_of(config_, load, name), "filter_false_positive_rate",
        static_cast<double>(after->filter_false_positives - before->filter_false_positives) /
            static_cast<double>(config_.lookups));
  }

  // The table is full to the last load, or has refused a key before.
  std::optional<Error> age(AnyTable& table, const std::string& name) {
    const double load = config_.loads.back();
    const uint64_t entries = entries_at(config_, load);
    const bool is_full = table.stats() && table.stats()->size == entries;
    unsigned generation = 0;
    for (size_t i = 0; i <= config_.ages.size() && !config_.ages.empty(); ++i) {
      const unsigned age = i == 0 ? 0 : config_.ages[i - 1];
      RecordRow row = row_of(config_, load, name);
      if (age != 0) row.workload = fmt::format("replaced {} times", age);
      row.metric = "second_lines";
      uint64_t stored = entries;
      for (; is_full && stored == entries && generation < age; ++generation) {
        stored =
            replace_entries(table, keys_, {entries, entries, generation, generation + 1}).stored;
      }
      if (!is_full || !table.counts() || stored != entries) {
        rows_.push_back(not_run(row, !table.counts() ? "it does not count"
                                     : !is_full      ? "it refused a key while it was filled"
                                                : fmt::format("it refused a key in replacement "
                                                              "{} of each entry",
                                                              generation)));
        break;
      }
      if (const auto wrong = wrong_in_sample(config_, table, first_key_of(generation), entries))
        return wrong;
      for (const double miss : {0.0, 1.0}) add_second_lines(table, row, generation, miss);
    }
    return std::nullopt;
  }

  void add_second_lines(AnyTable& table, RecordRow row, unsigned generation, double miss_ratio) {
    const auto visits = [&table] { return table.counts()->secondary_visits; };
    const Stream queries(traffic::query_stream(keys_, {.first_entry = first_key_of(generation),
                                                       .entry_count = row.entries,
                                                       .query_count = config_.lookups,
                                                       .miss_ratio = miss_ratio}));
    const uint64_t before = visits();
    static_cast<void>(table.pass(queries, kPlainCall));
    row.miss_ratio = miss_ratio;
    row.operations = config_.lookups;
    add(row, row.metric,
        static_cast<double>(visits() - before) / static_cast<double>(config_.lookups));
  }

  const JobConfig& config_;
  const Progress& progress_;
  traffic::KeySource keys_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_structure_job(const JobConfig& config, const Progress& progress) {
  return StructureJob(config, progress).run();
}

}  // namespace roost::lab
