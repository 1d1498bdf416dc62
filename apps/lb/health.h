// Health checks of a running balancer's backends, as its configuration wants them: who fails gets
// no new connections until it is well again, by the same request as `roost ctl backend` makes.
#pragma once

#include <memory>

#include "apps/lb/config.h"
#include "apps/lb/control.h"
#include "roost/node/health_checker.h"

namespace roost::lb {

// Null when no service wants checks. `control` must outlive it.
[[nodiscard]] std::unique_ptr<node::HealthChecker> check_health(const Config& config,
                                                                Control& control);

}  // namespace roost::lb
