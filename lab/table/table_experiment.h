// The experiment `table`: our flow table beside its peers and the ceiling, 16-byte keys and values,
// at one size.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct TableExperiment {
  uint64_t slots;
  double load;  // entries = load * slots, the same for every contestant
  PageKind pages;
  int core;
  unsigned rounds;
  unsigned warm_up_rounds;
  size_t lookups;  // a pass
  uint64_t seed;
};

// First line of the experiment's records.
[[nodiscard]] std::string table_csv_header();

// Fills every contestant, checks, times, and gives one line a timed pass. `say` is told what goes
// on.
[[nodiscard]] Result<std::string> run_table(const TableExperiment& config,
                                            const std::function<void(const std::string&)>& say);

}  // namespace roost::lab
