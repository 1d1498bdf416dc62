// The ways to look keys up, each on every machine of a sweep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "sim/lookup_run.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

struct WayInfo {
  std::string_view name;
  std::string_view about;
  sim::LookupWay way{};
  std::string_view software{};  // whose costs; empty: by accelerators
  std::string_view masked{};    // the same of lookups under a mask a table
  bool is_own = false;          // software on tables of ours
  bool is_single = false;       // software on single-function tables

  [[nodiscard]] bool is_software() const { return !software.empty(); }
  // Whether it goes with the table that is asked: a single-function table, or another.
  [[nodiscard]] bool goes_with(bool is_single_table) const {
    return !is_software() || is_own || is_single == is_single_table;
  }
};

// Of 32 lookups in flight: as many as software looks up in a call.
inline constexpr WayInfo kWays[] = {
    {.name = "blocking", .about = "LOOKUP_B, one after the other", .way = {.is_blocking = true}},
    {.name = "non-blocking",
     .about = "LOOKUP_NB, eight, then the next eight",
     .way = {.is_blocking = false}},
    {.name = "overlapped",
     .about = "LOOKUP_NB, four batches in flight; ours",
     .way = {.is_blocking = false, .batches_in_flight = 4}},
    {.name = "rte_hash",
     .about = "software: rte_hash, one key a call; the paper's",
     .software = "rte_hash_one",
     .masked = "tuples_rte_hash_one"},
    {.name = "rte_hash-32",
     .about = "software: rte_hash, 32 keys a call",
     .software = "rte_hash_32",
     .masked = "tuples_rte_hash_32"},
    {.name = "single",
     .about = "software: the single-function table, one key a call; the paper's",
     .software = "single_one",
     .is_single = true},
    {.name = "roost-32",
     .about = "software: our table, or our classifier, 32 keys a call",
     .software = "split_32",
     .masked = "megaflow_32",
     .is_own = true},
};

// What is looked up: the same keys in tables of two formats.
struct Question {
  sim::RunTables tables{};        // that accelerators ask
  sim::RunTables paper_tables{};  // that rte_hash asks, or `single`
  sim::RunTables own_tables{};
  sim::LookupTrace trace{};
  uint32_t key_bytes = 0;
  bool is_inline = false;  // ours are of the inline layout
  bool is_masked = false;  // each table has a mask
  bool is_single = false;  // accelerators ask a single-function table
};

struct WayOptions {
  std::vector<std::string> ways{};  // names; empty: all that go with the table
  bool is_cold = false;             // no line of the table is in a cache
  uint32_t cores = 1;
  uint64_t warm_up = 0;
  uint64_t lookups = 0;
  sim::Cycle cycles_max = 0;
  uint32_t threads = 1;
};

struct WayFigures {
  const WayInfo* info;
  std::vector<sim::LookupFigures> figures{};  // on each machine; the first has middle numbers
  std::vector<double> rates{};                // lookups a second on each
  sim::SweptMeasure lookups_per_second{};

  [[nodiscard]] const sim::LookupFigures& middle() const { return figures.front(); }
};

// An accelerator's way over software: how many times as fast.
struct SpeedUp {
  const WayInfo* way;
  const WayInfo* over;
  std::vector<double> ratios{};  // on each machine
  sim::SweptMeasure times{};
};

// Whether a way is to be run; as what.
[[nodiscard]] bool is_wanted(const WayInfo& info, const Question& question,
                             const WayOptions& options);
[[nodiscard]] sim::LookupRun run_of(const WayInfo& info, const Question& question,
                                    const WayOptions& options);

// Errors: as run_lookups(), of the first machine that has one.
[[nodiscard]] Result<std::vector<WayFigures>> run_ways(const sim::ParameterSweep& sweep,
                                                       const Question& question,
                                                       const WayOptions& options);

// Of each accelerator's way over each of software.
[[nodiscard]] std::vector<SpeedUp> speed_ups_of(const sim::ParameterSweep& sweep,
                                                const std::vector<WayFigures>& ways);

}  // namespace roost::halo
