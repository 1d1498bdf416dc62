// What the modes of services ask of the rest of a configuration.
#pragma once

#include <vector>

#include "apps/lb/config/config.h"

namespace roost::lb {

void check_modes(const Config& config, std::vector<config::Fault>& faults);

}  // namespace roost::lb
