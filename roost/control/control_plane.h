// All interfaces to a running function: DPDK's telemetry always, the control socket and the metrics
// endpoint if its configuration wants them, and the service manager if one started it. Their
// threads keep away from the workers' cores.
#pragma once

#include <sched.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/config/control_config.h"
#include "roost/control/control.h"
#include "roost/control/event_watch.h"
#include "roost/control/metrics_endpoint.h"

namespace roost::control {

class ControlPlane {
 public:
  struct Config {
    config::ControlConfig faces{};
    std::function<MetricFamilies()> metrics{};  // on several threads at a time
    std::string full_table_advice{};            // what to look at when a table is full
    std::function<std::vector<PortLink>()> read_links{};
    // Called once, on a thread of control: before any request, and when requests are taken.
    std::function<std::optional<Error>()> begin{};
    std::function<std::optional<Error>()> on_started{};
    cpu_set_t allowed{};  // the processors that this process may use
  };

  // The control, and what the configuration points to, must outlive this object.
  static Result<ControlPlane> start(Control& control, const Config& config);

  ControlPlane(ControlPlane&&) noexcept;
  ControlPlane& operator=(ControlPlane&&) = delete;
  ~ControlPlane();  // before the workers' memory goes; they may have ended

  // Those of the configuration: another process can open them, and this one again.
  void close_sockets();
  [[nodiscard]] std::optional<Error> open_sockets();

 private:
  struct Faces;
  explicit ControlPlane(std::unique_ptr<Faces> faces);

  std::unique_ptr<Faces> faces_;
};

}  // namespace roost::control
