// How good a flow register's estimate is, by its bits and by flows (HALO's figure 8b): the
// register's own code (roost/classify/flow_register.h), which the simulated accelerator's estimate
// is of too, on flows whose hashes are by chance.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/jobs/job.h"

namespace roost::lab {

struct FlowRegisterConfig {
  std::vector<uint32_t> bits{};
  std::vector<double> shares{};  // flows in shares of the bits
  uint32_t trials = 0;           // windows
  uint64_t seed = 1;
};

// Of each, metrics in shares of the flows: bias, deviation, and of the windows: saturated. A
// saturated register's estimate is the least that it can mean.
[[nodiscard]] Rows run_flow_register_job(const FlowRegisterConfig& config);

}  // namespace roost::lab
