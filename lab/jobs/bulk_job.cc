// Fills each contestant once, in memory that nobody has touched, as a table is brought up: seconds,
// bytes an entry, and the seconds of its own full check. A table that has a bulk load is filled by
// it, others by one thread's batches of inserts.
#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "lab/contestants/line_up.h"
#include "lab/jobs/job.h"

namespace roost::lab {
namespace {

class BulkJob {
 public:
  BulkJob(const JobConfig& config, const Progress& progress)
      : config_(config), progress_(progress), keys_(keys_of_core(config, 0)) {}

  Result<Rows> run() {
    for (const std::string& name : config_.contestants) {
      const ContestantEntry* entry = find_contestant(name);
      if (entry == nullptr) return Error{"there is no contestant " + name};
      progress_(0, "filling " + name);
      if (const auto wrong = bring_up(*entry)) return *wrong;
    }
    return std::move(rows_);
  }

 private:
  std::optional<Error> bring_up(const ContestantEntry& entry) {
    RecordRow row = row_of(config_, config_.loads.back(), std::string(entry.name));
    row.core_count = config_.cores.size();
    const auto refuse = [&](const std::string& why) {
      rows_.push_back(not_run(row, why));
      return std::nullopt;
    };
    auto made = entry.create(config_.slots, config_.pages);
    if (!made) return refuse(made.error().message);
    AnyTable& table = *made.value();
    const auto loaded = table.bulk_load(keys_, row.entries, static_cast<unsigned>(row.core_count));
    if (!loaded && row.core_count > 1) return refuse("it is filled by one thread only");
    const AnyTable::Inserted inserted =
        loaded ? *loaded : table.insert(keys_, 0, row.entries, kPlainCall.lanes);
    if (inserted.stored != row.entries)
      return refuse(fmt::format("it refused a key after {} entries", inserted.stored));
    describe(row, table, keys_.inserted(0));
    row.operations = row.entries;
    const auto entries = static_cast<double>(row.entries);
    add(row, "bulk_seconds", inserted.seconds);
    add(row, "bytes_per_entry", static_cast<double>(*row.table_bytes) / entries);
    if (const auto stats = table.stats())
      add(row, "kicks_per_insert", static_cast<double>(stats->kicks) / entries);
    if (table.can_audit()) {
      progress_(0.7, fmt::format("auditing {}", entry.name));
      const auto start = std::chrono::steady_clock::now();
      if (const auto wrong = table.audit())
        return Error{fmt::format("{}: {}; nothing it says counts", entry.name, *wrong)};
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      add(row, "audit_seconds", took.count());
    }
    return wrong_in_sample(config_, table, 0, row.entries);
  }

  void add(RecordRow row, const std::string& metric, double value) {
    row.metric = metric;
    row.value = value;
    rows_.push_back(std::move(row));
  }

  const JobConfig& config_;
  const Progress& progress_;
  traffic::KeySource keys_;
  Rows rows_;
};

}  // namespace

Result<Rows> run_bulk_job(const JobConfig& config, const Progress& progress) {
  return BulkJob(config, progress).run();
}

}  // namespace roost::lab
