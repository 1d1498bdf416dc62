// Health checks of a running balancer's backends, as its configuration wants them: one that fails
// gets no new connections until it is well again, by the same request as `roost ctl backend` makes.
#pragma once

#include <memory>
#include <mutex>

#include "apps/lb/control/control.h"
#include "roost/control/health_checker.h"

namespace roost::lb {

class HealthChecks {
 public:
  // The control must outlive this object.
  explicit HealthChecks(Control& control) : control_(control) {}

  // Of the configuration in force, until another one is taken; backends are as well as the control
  // knows them to be. What old checks still say counts for nothing. Any thread.
  void check_anew();

 private:
  Control& control_;
  std::mutex mutex_;
  std::unique_ptr<control::HealthChecker> checker_;  // null when no service wants checks
};

}  // namespace roost::lb
