#include "sim/lookup_run.h"

#include <algorithm>
#include <deque>
#include <string>

#include "roost/base/assert.h"
#include "sim/asking_program.h"
#include "sim/cached_start.h"
#include "sim/machine.h"

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

// Has all cores ask `count` keys, from the trace's key `first` on.
Result<Asked> ask(Machine& machine, const LookupRun& run, const PlacedTables& tables,
                  uint64_t first, uint64_t count) {
  std::deque<AskingProgram> programs;
  std::vector<const Core*> cores;
  const Cycle began = machine.events().now();
  for (Tile core = 0; core < run.cores; ++core) {
    const LookupShare share{.core = core,
                            .first = first + core,
                            .step = run.cores,
                            .count = count / run.cores + (core < count % run.cores ? 1 : 0)};
    programs.emplace_back(machine, run, tables, share);
    cores.push_back(&machine.start(core, programs.back().program()));
  }
  const Result<Cycle> ended = machine.run(run.cycles_max);
  if (!ended) return ended.error();
  Asked asked{.cycles = ended.value() - began};
  uint64_t answered = 0;
  uint64_t wrong = 0;
  for (const AskingProgram& program : programs) {
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

Result<PlacedTables> place_tables(Machine& machine, const LookupRun& run) {
  const uint64_t areas = machine.memory().parameters().tiles() * kLookupAreaBytes;
  const auto area = machine.bytes().put_zeroes(kLookupAreaAddress, areas);
  if (!area) return area.error();
  auto addresses = put_tables(machine.bytes(), run.tables);
  if (!addresses) return addresses.error();
  PlacedTables placed{.addresses = std::move(addresses).value(), .metadata = {}};
  for (const uint64_t table : placed.addresses) {
    const auto line = TableMetadata::of_line(machine.bytes().read_line(line_of(table)));
    ROOST_ASSERT(line.has_value());
    placed.metadata.push_back(*line);
  }
  // What accelerators ask is not in cores' caches.
  for (const RunTable& table : run.tables) {
    if (run.is_cold) break;
    begin_cached(machine.memory(), table.address, table.image.size(),
                 run.software == nullptr ? 0 : run.cores);
  }
  return placed;
}

Result<LookupFigures> run_lookups(const Parameters& parameters, const LookupRun& run) {
  ROOST_ASSERT(run.cores >= 1 && run.cores <= parameters.tiles() && run.lookups >= run.cores);
  Machine machine(parameters);
  const auto tables = place_tables(machine, run);
  if (!tables) return tables.error();
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
