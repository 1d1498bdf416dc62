// Health checks of a running balancer's backends, as its configuration wants them: who fails gets
// no new connections until it is well again, by the same request as `roost ctl backend` makes.
#pragma once

#include <memory>

#include "apps/lb/control/control.h"
#include "roost/control/health_checker.h"

namespace roost::lb {

// Of the configuration in force, until another one is taken; backends are as well as the control
// knows them to be. Null when no service wants checks. `control` must outlive it.
[[nodiscard]] std::unique_ptr<control::HealthChecker> check_health(Control& control);

}  // namespace roost::lb
