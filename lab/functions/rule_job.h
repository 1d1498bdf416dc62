// Times which of many rules packets get: by our classifier, with its caches and without them, and
// by DPDK's rte_acl; or by our classifier with its exact-match cache on, off, and as its flow
// register has it. Packets are there as each wants them, so parsing is nobody's.
//
// Rules and packets are synthetic (rules.h); half of the packets are drawn from those that a rule
// is about, the others from all. All answers are compared before anything is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lab/jobs/job.h"
#include "roost/base/result.h"

namespace roost::lab {

struct RuleJobConfig {
  std::string experiment;
  int core = 0;
  size_t rules = 0;
  size_t packets = 0;   // different ones, so flows
  unsigned passes = 1;  // over them, of each round
  unsigned rounds = 1;
  bool compares_cache = false;  // on, off and by the register; else all of it with rte_acl
  uint64_t seed = 1;
};

// EAL must run. Errors: a wrong answer, or a failed set-up.
[[nodiscard]] Result<Rows> run_rule_job(const RuleJobConfig& config, const Progress& progress);

}  // namespace roost::lab
