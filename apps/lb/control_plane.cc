#include "apps/lb/control_plane.h"

#include <functional>
#include <optional>
#include <utility>

#include "apps/lb/health.h"
#include "apps/lb/metrics.h"
#include "apps/lb/telemetry.h"
#include "roost/node/control_socket.h"
#include "roost/node/service_notice.h"
#include "roost/node/thread_placement.h"

namespace roost::lb {

struct ControlPlane::Faces {
  Faces(const Config& config, Control::Config control_config)
      : room(*control_config.room),
        begin(control_config.begin),
        control(config, std::move(control_config)) {}

  std::optional<Error> start(const Config& lb_config) {
    const ControlConfig& config = lb_config.control;
    if (begin) {
      if (auto error = begin()) return error;
    }
    if (!config.socket.empty()) {
      auto started = node::ControlSocket::start(
          {.path = config.socket, .mode = config.socket_mode, .group = config.socket_group},
          [this](std::string_view request) { return control.answer(request); });
      if (!started) return started.error();
      socket.emplace(std::move(started).value());
    }
    if (!config.metrics.empty()) {
      auto started = Metrics::start(config.metrics, control);
      if (!started) return started.error();
      metrics.emplace(std::move(started).value());
    }
    telemetry = add_telemetry(control);
    health = check_health(lb_config, control);
    notice = node::ServiceNotice::start(room);
    return {};
  }

  node::Mailroom& room;
  std::function<std::optional<Error>()> begin;
  Control control;
  std::optional<node::ControlSocket> socket;
  std::optional<Metrics> metrics;
  std::vector<io::TelemetryCommand> telemetry;
  std::unique_ptr<node::HealthChecker> health;
  std::unique_ptr<node::ServiceNotice> notice;
};

Result<ControlPlane> ControlPlane::start(const Config& config, Control::Config control,
                                         const cpu_set_t& allowed) {
  std::vector<unsigned> cores;
  for (const ControlledWorker& worker : control.workers) cores.push_back(worker.core);
  const node::ControlPlacement placement(allowed, cores);
  auto faces = std::make_unique<Faces>(config, std::move(control));
  if (auto error = faces->start(config)) return *error;
  return ControlPlane(std::move(faces));
}

ControlPlane::ControlPlane(std::unique_ptr<Faces> faces) : faces_(std::move(faces)) {}
ControlPlane::ControlPlane(ControlPlane&&) noexcept = default;
ControlPlane::~ControlPlane() = default;

}  // namespace roost::lb
