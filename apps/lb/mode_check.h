// What the modes of services ask of the rest of a configuration.
#pragma once

#include <vector>

#include "apps/lb/config.h"

namespace roost::lb {

// `is_network_known`: ports, neighbours and routes have been read without a fault.
void check_modes(const Config& config, bool is_network_known, std::vector<Fault>& faults);

}  // namespace roost::lb
