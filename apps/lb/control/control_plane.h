// All ways in which a running balancer is asked and told: DPDK's telemetry always, the control
// socket and the metrics endpoint if its configuration wants them, and the service manager if one
// started it. Their threads keep away from the workers' cores.
#pragma once

#include <sched.h>

#include <memory>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/control/control.h"
#include "roost/base/result.h"

namespace roost::lb {

class ControlPlane {
 public:
  // `allowed`: the processors that this process
  // may use. What the control's configuration points to must outlive this object.
  static Result<ControlPlane> start(const Config& config, Control::Config control,
                                    const cpu_set_t& allowed);

  ControlPlane(ControlPlane&&) noexcept;
  ControlPlane& operator=(ControlPlane&&) = delete;
  ~ControlPlane();  // before the workers' memory goes; they may have ended

 private:
  struct Faces;
  explicit ControlPlane(std::unique_ptr<Faces> faces);

  std::unique_ptr<Faces> faces_;
};

}  // namespace roost::lb
