// Hours of churn in minutes: whether a load balancer is after it what it was before.
//
// Frames come from memory, not from a port, and time is counted in batches, not by a clock: how
// fast the machine is changes nothing of what happens, so every count is known exactly. Flows
// arrive, are assured by both ends, are used in turn and then close or fall silent, so that the
// table stays at about 0.9 of what it takes; in the middle, senders that send one packet each
// ask ten times as often as the table has places. Afterwards everything ends.
//
// Wrong is: a packet of an assured flow that is not forwarded; a count that is not the sum of what
// was done, but for one of ten thousand flows: where only assured ones are near, the flood drives
// out the one that has been silent longest, and its next packet creates it again; an index that
// leads nowhere; an entry, or a byte of memory, that is left at the end.
#pragma once

#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"

namespace roost::lab {

struct SoakJobConfig {
  std::string experiment;
  uint64_t connections = 0;  // that the table takes
  double seconds = 0;        // at 0.9, before and after the flood together
  int core = 0;
  uint64_t seed = 1;
};

// Rows: the time of a batch before, in and after the flood, by quantile; the load; what was
// counted.
[[nodiscard]] Result<Rows> run_soak_job(const SoakJobConfig& config, const Progress& progress);

}  // namespace roost::lab
