// A program that shares its core with the lookups: what it loses, by each way to look up
// (sim/neighbour_run.h, docs/decisions/0061).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/halo/ways.h"
#include "roost/base/result.h"
#include "roost/control/json.h"
#include "sim/memory_trace.h"
#include "sim/neighbour_run.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

// Beside one way to look up, or a thread that only waits.
struct BesideFigures {
  std::string_view name;
  std::string_view about;
  std::vector<sim::NeighbourFigures> figures{};  // on each machine
  sim::SweptMeasure loss{};                      // of throughput, against the whole core
  sim::SweptMeasure l1d_miss_share{};
};

struct Neighbour {
  std::string name{};  // the file's; empty: there is none
  sim::MemoryTrace trace{};
  std::vector<sim::NeighbourFigures> alone{};
  sim::SweptMeasure l1d_miss_share{};  // alone
  std::vector<BesideFigures> beside{};
};

// Of a file; none if the path is empty. Errors: no file, or none that valgrind's lackey writes.
[[nodiscard]] Result<Neighbour> read_neighbour(const std::string& path);
// More keys than are looked up beside it.
[[nodiscard]] uint64_t keys_beside(const Neighbour& neighbour);

// Runs it alone, beside a thread that waits, and beside each way; nothing if there is none. Errors:
// as sim::run_neighbour(), of the first machine that has one.
[[nodiscard]] Result<Neighbour> run_neighbour(const sim::ParameterSweep& sweep, Neighbour neighbour,
                                              const Question& question, const WayOptions& options);

void add_neighbour(std::vector<std::string>& lines, const Neighbour& neighbour);
[[nodiscard]] control::Json neighbour_json(const Neighbour& neighbour);  // null: there is none

}  // namespace roost::halo
