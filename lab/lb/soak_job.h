// Hours of churn in minutes: whether a load balancer is after it what it was before, on any of the
// tables of cell_tables.h.
//
// Frames come from memory, not from a port, and time is the traffic's own, not a clock's: how fast
// the machine is changes nothing of what happens, so every count is known exactly. Connections
// begin, send from both ends and then close or fall silent (soak_traffic.h), so that the table
// stays at about 0.9 of what it takes; in the middle, senders that send one packet each ask ten
// times as often as the table has places. Afterwards everything ends.
//
// Of several workers, each has a thread, a core and connections of its own. Each has tables of its
// own, too, or all have one; that says the cell.
//
// Wrong is: a packet of an assured connection that is not forwarded; a count that is not the sum of
// what was done, but for one of ten thousand connections: where only assured ones are near, the
// flood drives out the one that has been silent longest, and its next packet creates it again; an
// index that leads nowhere; an entry, or a byte of the heap, that is left at the end.
//
// So some tables of others are wrong that lose nothing: rte_hash LF counts what it has erased last
// until its next change, cds_lfht frees in a thread of its own, boost_flat_map moves to new arrays
// as it goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"

namespace roost::lab {

struct SoakJobConfig {
  std::string experiment;
  std::string cell = "slot_timers";  // by name (cell_tables.h): one whose connections end
  uint64_t connections = 0;          // that the tables take, of all workers
  double seconds = 0;                // at 0.9, before and after the flood together
  std::vector<int> cores;            // a worker each
  uint64_t seed = 1;
};

// Rows: the time of the first worker's batches before, in and after the flood, by quantile; the
// load, of all workers; what was counted.
[[nodiscard]] Result<Rows> run_soak_job(const SoakJobConfig& config, const Progress& progress);

}  // namespace roost::lab
