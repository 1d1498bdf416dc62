// What of a configuration may change while the balancer runs with another one.
#pragma once

#include <array>
#include <vector>

#include "apps/lb/config/config.h"

namespace roost::lb {

// What `file` says differently and cannot change: what sizes memory, and what belongs to devices.
// Services, backends, checks, timeouts, what is refused and the seed of Maglev may; but a family
// that the balancer began without has no table (0 IPv4, 1 IPv6).
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file,
                                                         const std::array<bool, 2>& has_tables);

}  // namespace roost::lb
