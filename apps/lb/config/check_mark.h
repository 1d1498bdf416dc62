// What the marks of backends, by which checks take the way of clients' packets, ask of the rest of
// a configuration (docs/decisions/0032-health-checks.md).
#pragma once

#include <vector>

#include "apps/lb/config/config.h"

namespace roost::lb {

void check_marks(const Config& config, std::vector<config::Fault>& faults);

}  // namespace roost::lb
