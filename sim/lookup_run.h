// A point: lookups of a trace in saved tables on a machine of given numbers, and what they took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "sim/lookup_program.h"
#include "sim/parameters.h"
#include "sim/software_costs.h"
#include "sim/table_format.h"

namespace roost::sim {

// Where tables lie while they are asked, the first one or all.
inline constexpr uint64_t kRunTableAddress = uint64_t{1} << 30;

struct RunTable {
  std::span<const std::byte> image{};   // that put_table() takes
  std::optional<KeyMask> mask{};        // that keys are looked up under
  uint64_t address = kRunTableAddress;  // that it takes
};
using RunTables = std::vector<RunTable>;

struct LookupRun {
  // A key is looked up in one after the other until one has it, or in all at once
  // (docs/decisions/0059); that is one lookup. Keys of all have the same length.
  RunTables tables{};
  LookupTrace trace{};
  LookupWay way{};
  // Instead of that, software that takes so much; the tables are of its format.
  const SoftwareCost* software = nullptr;
  bool is_cold = true;   // nothing is in a cache; else as begin_cached() has it
  uint32_t cores = 1;    // that ask the tables, each a part of the keys; at most the machine's
  uint64_t warm_up = 0;  // lookups before those that are counted
  uint64_t lookups = 0;  // of all cores, at least one of each
  Cycle cycles_max = Cycle{1} << 40;
};

struct LookupFigures {
  Cycle cycles = 0;
  double lookups_per_second = 0;
  double cycles_per_lookup = 0;  // of all cores together
  double hit_share = 0;
  double instructions_per_lookup = 0;  // of cores, with those that write keys
  double loads_per_lookup = 0;         // of those
  // Of cores' loads and stores, and of lines that they ask for ahead: lines that a core's L2 asked
  // its home slice for, to write too, each once however many wait for it; of those, read from DRAM.
  double l2_misses_per_lookup = 0;
  double llc_misses_per_lookup = 0;
  // Of cores' cycles: those in which nothing left, because the oldest operation was a load of a
  // line that neither L1D nor L2 had.
  double stall_share = 0;
  // Of accelerators, by lookup in one table:
  double tables_per_lookup = 0;  // of a key, how many tables were asked
  double lines_per_lookup = 0;   // of buckets and entries
  double second_bucket_share = 0;
  double mismatches_per_lookup = 0;  // entries with the key's signature and another key
  double hashes_per_lookup = 0;
  double key_lines_per_lookup = 0;  // that were read for keys
  double locks_per_lookup = 0;      // lines
  double places_used = 0;           // of the busiest accelerator's scoreboard, over the cycles
  double full_share = 0;            // cycles in which no place of it was free
  uint32_t accelerators = 0;        // that had lookups
  double busiest_share = 0;         // of lookups that the busiest of them had
  uint64_t waiting_max = 0;         // lookups that waited at the distributor for one of them
};

// Errors: the machine stands still or runs too long, with who waits for whom; a word is not what
// the trace says; the image is refused.
[[nodiscard]] Result<LookupFigures> run_lookups(const Parameters& parameters, const LookupRun& run);

// The words that keys are answered with, for each key by each table. Errors: as put_table().
[[nodiscard]] Result<std::vector<uint64_t>> words_of(const RunTables& tables,
                                                     std::span<const KeyBytes> keys);

}  // namespace roost::sim
