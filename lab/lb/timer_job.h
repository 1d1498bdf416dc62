// Times timers alone, each of many in random order: ours (roost/expiry/timer_wheel.h) and DPDK's
// rte_timer. The latter goes by the processor's clock and so cannot stand behind the cells of
// cell_job.h, whose clock is their packets'.
#pragma once

#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct TimerJobConfig {
  std::string experiment;
  uint64_t timers = 0;
  unsigned rounds = 1;
  PageKind pages = PageKind::kSmall;
  int core = 0;
};

// Rows: nanoseconds a timer by round to arm, to arm again, to disarm, and to fire, when all come
// due within a second; bytes a timer. Needs a started Eal.
[[nodiscard]] Result<Rows> run_timer_job(const TimerJobConfig& config, const Progress& progress);

}  // namespace roost::lab
