// Workloads of the tests.
#pragma once

#include "apps/advise/workload.h"

namespace roost::advise {

// A million alive, of 20 packets each.
[[nodiscard]] inline Workload one_million() {
  return {.connections = 1'000'000, .new_per_second = 50'000, .packets_per_second = 1'000'000};
}

}  // namespace roost::advise
