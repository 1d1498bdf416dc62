// What a program loses that shares its core with lookups (HALO's figure 12): a trace of it on one
// thread of a core, and on the other one somebody who looks keys up without end
// (docs/decisions/0061). Emulated: no such machine runs the program.
//
// The first half of the trace's instructions warms the caches up, the other one counts.
#pragma once

#include <cstdint>

#include "roost/base/result.h"
#include "sim/lookup_run.h"
#include "sim/memory_trace.h"
#include "sim/parameters.h"

namespace roost::sim {

// Cycles that a thread waits at a time which only waits: HALO's emulation of a lookup by its
// accelerator, which waits "hundreds of cycles" (section 5).
inline constexpr uint16_t kWaitedCycles = 300;

enum class OtherThread : uint8_t {
  kNone,   // the program has the whole core
  kWaits,  // kWaitedCycles at a time
  kAsks,
};

struct NeighbourRun {
  const MemoryTrace* trace = nullptr;
  OtherThread other = OtherThread::kNone;
  const LookupRun* lookups = nullptr;  // of one that asks: how, and whom; its counts are not used
  Cycle cycles_max = Cycle{1} << 40;   // of each half
};

struct NeighbourFigures {
  Cycle cycles = 0;
  double instructions_a_cycle = 0;
  double l1d_miss_share = 0;      // of its loads, those of lines of which L1D had not all
  double lookups_per_second = 0;  // of the other thread meanwhile
};

// Errors: as run_lookups().
[[nodiscard]] Result<NeighbourFigures> run_neighbour(const Parameters& parameters,
                                                     const NeighbourRun& run);

}  // namespace roost::sim
