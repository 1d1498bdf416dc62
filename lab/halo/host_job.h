// What HALO's simulator is held against on this machine: the core's clock by a chain of additions,
// pointer chases, and the lookups of software that it knows (lab/functions/counted_tables.h),
// of the keys of tables that roost-halo builds, by chance.
//
// Everything is there at once and asked in turns, so that what slows a round down slows all of it.
// Before each turn the caches are warmed up, as on the simulated machine. Of lookups, keys are
// drawn in blocks, which are not timed: they lie in L1D then, as those that a program has just made
// of packets.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct HostConfig {
  int core = 0;
  PageKind pages = PageKind::kSmall;
  std::vector<uint64_t> chases{};  // bytes of each
  std::vector<uint64_t> slots{};   // of tables, a power of two each
  double load = 0.8;
  uint64_t warm_up_max = 0;  // lookups; at most three an entry
  uint64_t operations = 0;   // lookups, steps, additions that are timed, in a turn
  unsigned rounds = 1;
  uint64_t seed = 1;
};

// EAL must run. Errors: a wrong answer, or a failed set-up.
[[nodiscard]] Result<Rows> run_host_job(const HostConfig& config, const Progress& progress);

}  // namespace roost::lab
