#include "sim/lookup_run.h"

#include <algorithm>
#include <deque>
#include <string>

#include "roost/base/assert.h"
#include "sim/cached_start.h"
#include "sim/machine.h"
#include "sim/software_program.h"

namespace roost::sim {

namespace {

// What the accelerators have counted so far.
struct UnitTotals {
  AcceleratorCounts counts{};
  ResidencyCounts residency{};
};

// What cores' caches have missed so far.
struct MissTotals {
  uint64_t l2 = 0;
  uint64_t llc = 0;
};

MissTotals misses_of(Machine& machine) {
  MissTotals totals;
  for (Tile tile = 0; tile < machine.memory().parameters().tiles(); ++tile) {
    totals.l2 += machine.memory().cache(tile).counts().l2_misses;
    totals.llc += machine.memory().home(tile).counts().core_dram_reads;
  }
  return totals;
}

std::vector<UnitTotals> totals_of(Machine& machine) {
  std::vector<UnitTotals> totals;
  for (Tile tile = 0; tile < machine.memory().parameters().tiles(); ++tile) {
    const AcceleratorTile& unit = machine.accelerators().tile(tile);
    totals.push_back({unit.accelerator().counts(), unit.residency()});
  }
  return totals;
}

struct Asked {
  Cycle cycles = 0;
  uint64_t found = 0;
  uint64_t instructions = 0;
  uint64_t loads = 0;
  uint64_t stalled = 0;  // cycles
};

// Has all cores ask `count` keys, from the trace's key `first` on, by programs that make(share)
// puts behind `programs`.
template <class Program, class Make>
Result<Asked> ask_by(Machine& machine, const LookupRun& run, uint64_t first, uint64_t count,
                     Make&& make) {
  std::deque<Program> programs;
  std::vector<const Core*> cores;
  const Cycle began = machine.events().now();
  for (Tile core = 0; core < run.cores; ++core) {
    make(programs, LookupShare{.core = core,
                               .first = first + core,
                               .step = run.cores,
                               .count = count / run.cores + (core < count % run.cores ? 1 : 0)});
    cores.push_back(&machine.start(core, programs.back()));
  }
  const Result<Cycle> ended = machine.run(run.cycles_max);
  if (!ended) return ended.error();
  Asked asked{.cycles = ended.value() - began};
  uint64_t answered = 0;
  uint64_t wrong = 0;
  for (const Program& program : programs) {
    answered += program.answered();
    asked.found += program.found();
    wrong += program.wrong();
  }
  for (const Core* core : cores) {
    asked.instructions += core->counts().instructions;
    asked.loads += core->counts().loads;
    asked.stalled += core->counts().stalled;
  }
  if (answered == count && wrong == 0) return asked;
  return Error{"of " + std::to_string(count) + " lookups " + std::to_string(answered) +
               " were answered, " + std::to_string(wrong) +
               " of them not as the table says; this is a fault of the simulator"};
}

// `tables` are their addresses.
Result<Asked> ask(Machine& machine, const LookupRun& run, std::span<const uint64_t> tables,
                  uint64_t first, uint64_t count) {
  std::vector<TableMetadata> metadata;
  for (const uint64_t table : tables) {
    const auto line = TableMetadata::of_line(machine.bytes().read_line(line_of(table)));
    ROOST_ASSERT(line.has_value());
    metadata.push_back(*line);
  }
  if (run.software == nullptr) {
    return ask_by<LookupProgram>(
        machine, run, first, count, [&](auto& programs, const LookupShare& share) {
          programs.emplace_back(run.trace, run.way, share, tables, metadata[0].key_bytes);
        });
  }
  return ask_by<SoftwareProgram>(
      machine, run, first, count, [&](auto& programs, const LookupShare& share) {
        programs.emplace_back(run.trace, *run.software, share, metadata, machine.bytes(),
                              machine.memory().parameters());
      });
}

Result<std::vector<uint64_t>> put_tables(SimulatedMemory& memory, const RunTables& tables) {
  std::vector<uint64_t> addresses;
  for (const RunTable& table : tables) {
    const auto put = put_table(memory, table.address, table.image, table.mask);
    if (!put) return put.error();
    addresses.push_back(put.value());
  }
  return addresses;
}

double share_of(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

void add_units(LookupFigures& figures, uint64_t lookups, const std::vector<UnitTotals>& before,
               const std::vector<UnitTotals>& after) {
  AcceleratorCounts sum;
  uint64_t most = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    const AcceleratorCounts& counts = after[i].counts;
    const uint64_t completed = counts.completed - before[i].counts.completed;
    sum.completed += completed;
    sum.line_reads += counts.line_reads - before[i].counts.line_reads;
    sum.second_buckets += counts.second_buckets - before[i].counts.second_buckets;
    sum.mismatches += counts.mismatches - before[i].counts.mismatches;
    sum.hashes += counts.hashes - before[i].counts.hashes;
    sum.key_reads += counts.key_reads - before[i].counts.key_reads;
    sum.locks += counts.locks - before[i].counts.locks;
    figures.accelerators += completed != 0 ? 1 : 0;
    most = std::max(most, completed);
    const auto since = [&](uint64_t ResidencyCounts::*count) {
      return share_of(after[i].residency.*count - before[i].residency.*count, figures.cycles);
    };
    figures.places_used = std::max(figures.places_used, since(&ResidencyCounts::place_cycles));
    figures.full_share = std::max(figures.full_share, since(&ResidencyCounts::busy_cycles));
  }
  figures.busiest_share = share_of(most, sum.completed);
  figures.tables_per_lookup = share_of(sum.completed, lookups);
  figures.lines_per_lookup = share_of(sum.line_reads, sum.completed);
  figures.second_bucket_share = share_of(sum.second_buckets, sum.completed);
  figures.mismatches_per_lookup = share_of(sum.mismatches, sum.completed);
  figures.hashes_per_lookup = share_of(sum.hashes, sum.completed);
  figures.key_lines_per_lookup = share_of(sum.key_reads, sum.completed);
  figures.locks_per_lookup = share_of(sum.locks, sum.completed);
}

}  // namespace

Result<LookupFigures> run_lookups(const Parameters& parameters, const LookupRun& run) {
  ROOST_ASSERT(run.cores >= 1 && run.cores <= parameters.tiles() && run.lookups >= run.cores);
  Machine machine(parameters);
  const auto area =
      machine.bytes().put_zeroes(kLookupAreaAddress, parameters.tiles() * kLookupAreaBytes);
  if (!area) return area.error();
  const auto tables = put_tables(machine.bytes(), run.tables);
  if (!tables) return tables.error();
  // What accelerators ask is not in cores' caches.
  for (const RunTable& table : run.tables) {
    if (run.is_cold) break;
    begin_cached(machine.memory(), table.address, table.image.size(),
                 run.software == nullptr ? 0 : run.cores);
  }
  if (run.warm_up != 0) {
    const auto warmed = ask(machine, run, tables.value(), 0, run.warm_up);
    if (!warmed) return warmed.error();
  }
  const std::vector<UnitTotals> before = totals_of(machine);
  const MissTotals missed_before = misses_of(machine);
  const Result<Asked> asked = ask(machine, run, tables.value(), run.warm_up, run.lookups);
  if (!asked) return asked.error();
  LookupFigures figures{.cycles = asked.value().cycles};
  figures.cycles_per_lookup = share_of(figures.cycles, run.lookups);
  figures.lookups_per_second =
      parameters.clock_megahertz * 1e6 * share_of(run.lookups, figures.cycles);
  figures.hit_share = share_of(asked.value().found, run.lookups);
  figures.instructions_per_lookup = share_of(asked.value().instructions, run.lookups);
  figures.loads_per_lookup = share_of(asked.value().loads, run.lookups);
  figures.stall_share = share_of(asked.value().stalled, figures.cycles * run.cores);
  const MissTotals missed = misses_of(machine);
  figures.l2_misses_per_lookup = share_of(missed.l2 - missed_before.l2, run.lookups);
  figures.llc_misses_per_lookup = share_of(missed.llc - missed_before.llc, run.lookups);
  figures.waiting_max = machine.accelerators().waiting_max();
  add_units(figures, run.lookups, before, totals_of(machine));
  return figures;
}

Result<std::vector<uint64_t>> words_of(const RunTables& tables, std::span<const KeyBytes> keys) {
  SimulatedMemory memory;
  const auto addresses = put_tables(memory, tables);
  if (!addresses) return addresses.error();
  std::vector<uint64_t> words;
  words.reserve(keys.size() * tables.size());
  for (const KeyBytes& key : keys)
    for (const uint64_t table : addresses.value()) words.push_back(lookup_word(memory, table, key));
  return words;
}

}  // namespace roost::sim
