// What must hold between services, backends and the network: nothing twice, one family a service,
// and backends that can be reached.
#pragma once

#include <vector>

#include "apps/lb/config/config.h"

namespace roost::lb {

// Appends a fault for each thing that does not hold. Where the network could not be read, what
// depends on it is not judged.
void check_config(const Config& config, std::vector<config::Fault>& faults);

}  // namespace roost::lb
