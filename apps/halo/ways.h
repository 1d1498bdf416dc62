// The ways to look keys up, each on every machine of a sweep.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/halo/inputs.h"
#include "roost/base/result.h"
#include "sim/lookup_run.h"
#include "sim/parameter_sweep.h"

namespace roost::halo {

struct WayInfo {
  std::string_view name;
  std::string_view about;
  sim::LookupWay way;
};

// Of 32 lookups in flight: as many as our software looks up in a call.
inline constexpr WayInfo kWays[] = {
    {"blocking", "LOOKUP_B, one after the other", {.is_blocking = true}},
    {"non-blocking", "LOOKUP_NB, eight, then the next eight", {.is_blocking = false}},
    {"overlapped",
     "LOOKUP_NB, four lines of eight in flight; ours",
     {.is_blocking = false, .lines_in_flight = 4}},
};

struct WayOptions {
  uint32_t cores = 1;
  uint64_t warm_up = 0;
  uint64_t lookups = 0;
  sim::Cycle cycles_max = 0;
  uint32_t threads = 1;
};

struct WayFigures {
  const WayInfo* info;
  sim::LookupFigures middle{};  // on the machine of middle numbers
  sim::SweptMeasure lookups_per_second{};
};

// Errors: as run_lookups(), of the first machine that has one.
[[nodiscard]] Result<std::vector<WayFigures>> run_ways(const sim::ParameterSweep& sweep,
                                                       const Inputs& inputs,
                                                       const WayOptions& options);

}  // namespace roost::halo
