// Times the turns of a switch's worker while the control thread, on another core, works on the
// whole forwarding database: lists, counts and exports it, imports and flushes as many stations
// more as `imported` says. A turn is a batch from port to port, with all that is done beside it.
#pragma once

#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct StallJobConfig {
  std::string experiment;
  uint64_t stations = 0;
  uint64_t imported = 0;
  uint64_t frames = 0;  // that the ports have in memory
  PageKind pages = PageKind::kSmall;
  int core = 0;
  int control_core = 0;
  unsigned rounds = 1;
  uint64_t packets = 0;  // a pass
  uint64_t seed = 1;
};

// Rows: by what the control thread does, the time of a turn by quantile, the longest, and how many
// took more than 50 us. An error is a wrong answer or a failed set-up.
[[nodiscard]] Result<Rows> run_stall_job(const StallJobConfig& config, const Progress& progress);

}  // namespace roost::lab
