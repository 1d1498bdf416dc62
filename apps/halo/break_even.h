// From how many entries on an accelerator is at least as fast as software: over a ladder of tables
// that are built for the question.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/halo/inputs.h"
#include "apps/halo/ways.h"
#include "roost/base/result.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

// Nothing: not up to the ladder's end.
using EvenFrom = std::optional<uint64_t>;

// The least size from which on all ratios are at least 1; `sizes` rise, a ratio each.
[[nodiscard]] EvenFrom even_from(std::span<const uint64_t> sizes, std::span<const double> ratios);

struct BreakEven {
  const WayInfo* way;
  const WayInfo* over;
  EvenFrom middle{};  // of the machine of middle numbers
  EvenFrom least{};   // of all machines
  EvenFrom greatest{};
};

// Of each way over each; by_size[s] are those of size s, all in the same order.
[[nodiscard]] std::vector<BreakEven> break_evens_of(
    std::span<const uint64_t> sizes, const std::vector<std::vector<SpeedUp>>& by_size);

struct Ladder {
  std::vector<uint64_t> sizes{};  // entries of its tables
  BuildOptions build{};           // of each, with other entries
  uint64_t lookups = 0;           // that count, of each
  std::vector<BreakEven> found{};
};

// Sizes of a ladder that ends with `entries_max`, or before: 8, 32, 128, ...
[[nodiscard]] std::vector<uint64_t> ladder_sizes(uint64_t entries_max);

// A table of the ladder, and how it is asked.
struct Rung {
  Inputs inputs;
  WayOptions options;
};

// Tables like `build` of those sizes. Each is warmed up by four lookups an entry, or by
// `options.warm_up` if that is less. Errors: as read_inputs().
[[nodiscard]] Result<std::vector<Rung>> ladder_rungs(const std::vector<uint64_t>& sizes,
                                                     const BuildOptions& build,
                                                     const WayOptions& options);

// Runs all ways on all of them; `ladder` says what they are. Errors: as run_ways().
[[nodiscard]] Result<Ladder> climb(const sim::ParameterSweep& sweep, const std::vector<Rung>& rungs,
                                   Ladder ladder);

}  // namespace roost::halo
