// What the measuring program does in one process: one size, a few contestants side by side.
//
//   run_lookup_job       times lookups, alone or with churn between them
//   run_fill_job         times insertions from empty to each load
//   run_replacement_job  times erasures and insertions in turn, at each load
//   run_structure_job    counts what needs no clock: displaced entries, moved counts, false
//                        positives, second lines of tables that are new and of those that have aged
//   run_update_job       times lookups beside a writer, and checks them
//   run_bulk_job         fills a table once, in fresh memory, and audits it
//
// An error is a wrong answer or a failed set-up. A contestant that cannot be made, refuses a key or
// cannot do what is asked gets a row without a value whose note says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/harness/any_table.h"
#include "lab/jobs/record_row.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/traffic/query_stream.h"

namespace roost::lab {

struct JobConfig {
  std::string experiment;
  std::vector<std::string> contestants;
  uint64_t slots = 0;
  std::vector<double> loads;  // rising; entries = load * slots, the same for every contestant
  std::vector<double> miss_ratios;
  std::vector<Call> calls;
  std::vector<std::string> ceilings;  // which variants of the ceiling run along
  double zipf_exponent = 0;
  unsigned lookups_per_insert = 0;        // of churn; 0 for none
  uint64_t updates_per_second = 500'000;  // of an update job's writer
  unsigned key_bits = 128;
  std::vector<unsigned> ages;  // rising; replacements of each entry before lookups are counted
  size_t lookups = 0;          // a pass; in a replacement job so many replacements
  bool counts = true;          // let twins count what lookups meet, after the timed rounds
  bool own_oracles = false;    // oracles in the tables' own memory run along
  bool shared = false;         // the cores have one table together, not one each
  bool forced_hints = false;   // the tables run along as they are with each prefetch hint
  PageKind pages = PageKind::kSmall;
  std::vector<int> cores;
  unsigned rounds = 1;
  unsigned warm_up_rounds = 1;
  uint64_t seed = 1;
};

using Progress = std::function<void(double share_done, const std::string& what)>;
using Rows = std::vector<RecordRow>;

[[nodiscard]] Result<Rows> run_lookup_job(const JobConfig& config, const Progress& progress);
[[nodiscard]] Result<Rows> run_fill_job(const JobConfig& config, const Progress& progress);
[[nodiscard]] Result<Rows> run_replacement_job(const JobConfig& config, const Progress& progress);
[[nodiscard]] Result<Rows> run_structure_job(const JobConfig& config, const Progress& progress);
[[nodiscard]] Result<Rows> run_update_job(const JobConfig& config, const Progress& progress);
[[nodiscard]] Result<Rows> run_bulk_job(const JobConfig& config, const Progress& progress);

// --- What they share. ---

[[nodiscard]] uint64_t entries_at(const JobConfig& config, double load);

// A row with the conditions that hold for the whole job.
[[nodiscard]] RecordRow row_of(const JobConfig& config, double load, const std::string& contestant);

// The row of something that could not be run.
[[nodiscard]] RecordRow not_run(RecordRow row, const std::string& why);

// What a row says of a table: its sizes, its hint, the pages behind a key that is present.
void describe(RecordRow& row, AnyTable& table, const Key& present);

// Checks every answer to a sample of queries, half of them absent, the others of these entries.
[[nodiscard]] std::optional<Error> wrong_in_sample(const JobConfig& config, AnyTable& table,
                                                   uint64_t first_entry, uint64_t entry_count);

// The keys for a core, from a seed of its own; of a table that cores share, of one seed.
[[nodiscard]] traffic::KeySource keys_of_core(const JobConfig& config, size_t core);

// The queries of a core; of a table that cores share, the same ones from another place on.
[[nodiscard]] std::vector<Key> queries_of_core(const JobConfig& config, size_t core,
                                               const traffic::StreamShape& shape);

}  // namespace roost::lab
