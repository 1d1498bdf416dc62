// What must hold between the parts of a configuration: nothing twice, one family a service, and
// everybody who is to be reached can be.
#pragma once

#include <vector>

#include "apps/lb/config.h"

namespace roost::lb {

// Appends a fault for each thing that does not hold. When ports or neighbours were refused already
// (`is_network_known` false), what depends on them is not judged.
void check_config(const Config& config, bool is_network_known, std::vector<Fault>& faults);

}  // namespace roost::lb
