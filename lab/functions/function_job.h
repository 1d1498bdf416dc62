// Times other functions than the load balancer from a port to a port, with live connections of all
// packets' flows: a firewall beside the balancer, and a NAT on our tables and on rte_hash; and what
// the same packets cost when nothing is asked. As lab/lb/packet_job.h; one worker.
#pragma once

#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct FunctionJobConfig {
  std::string experiment;  // "firewall" or "nat"
  uint64_t flows = 0;      // the tables are made for as many
  size_t rules = 0;        // of the firewall
  PageKind pages = PageKind::kSmall;
  int core = 0;
  unsigned rounds = 1;
  uint64_t packets = 0;  // a pass
  uint64_t seed = 1;
};

// An error is a wrong answer or a failed set-up. What takes part: function_job.cc.
[[nodiscard]] Result<Rows> run_function_job(const FunctionJobConfig& config,
                                            const Progress& progress);

}  // namespace roost::lab
