// Times tables that threads share, alone: any thread asks for any key, and each now and then makes
// a key and erases another (CT-F4).
//
// A thread's own keys are a window of numbers that moves on: it makes the next number and erases
// the first. Who asks draws one of all windows; what was asked for while its owner erased it may be
// found or not, and only then: anything else that is missed, and any other value than the key's own
// number, is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct CommonJobConfig {
  std::string experiment;
  std::vector<std::string> tables;   // by name (lab/store/common_values.h)
  uint64_t entries = 0;              // of all threads
  uint64_t lookups_per_change = 20;  // to an insertion and an erasure
  uint64_t lookups = 0;              // of a pass, of each thread
  unsigned rounds = 1;
  uint64_t seed = 1;
  PageKind pages = PageKind::kSmall;
  std::vector<int> cores;  // a thread each
};

// Rows: million lookups a second by round, with the changes, on the first thread alone and on all.
// An error is a wrong answer or a failed set-up.
[[nodiscard]] Result<Rows> run_common_job(const CommonJobConfig& config, const Progress& progress);

}  // namespace roost::lab
