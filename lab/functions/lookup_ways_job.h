// Times the packets of three functions whose tables are asked in several ways, as HALO's Figure 13
// has them (docs/papers.md): a NAT's connections, the hosts of an asset detection, the addresses of
// a packet filter. The ways: DPDK's rte_hash by one key a call and by 32, our table by 32, and no
// table at all, which is what a packet costs otherwise.
//
// Frames are copied into buffers, parsed, asked for by the keys of the real functions, and acted
// upon: a source and its checksums are rewritten, a host's last time is written, a verdict is
// counted. All answers are compared before anything is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"

namespace roost::lab {

struct LookupWaysConfig {
  std::string experiment;
  std::string function;  // "nat", "assets" or "filter"
  int core = 0;
  size_t entries = 0;   // of the table
  size_t packets = 0;   // of the stream; a filter's rules are about half of them
  unsigned passes = 1;  // over them, of each round
  unsigned rounds = 1;
  uint64_t seed = 1;
};

// EAL must run. Errors: a wrong answer, or a failed set-up.
[[nodiscard]] Result<Rows> run_lookup_ways_job(const LookupWaysConfig& config,
                                               const Progress& progress);

}  // namespace roost::lab
