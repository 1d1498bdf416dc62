#include "apps/lb/control/control_plane.h"

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "apps/lb/control/health.h"
#include "apps/lb/control/metrics.h"
#include "apps/lb/control/telemetry.h"
#include "roost/control/control_socket.h"
#include "roost/control/event_watch.h"
#include "roost/control/metrics_endpoint.h"
#include "roost/control/reload_signal.h"
#include "roost/control/service_notice.h"
#include "roost/control/thread_placement.h"

namespace roost::lb {

struct ControlPlane::Faces {
  Faces(const Config& config, Control::Config control_config)
      : room(*control_config.room),
        begin(control_config.begin),
        events({.workers = {control_config.workers.begin(), control_config.workers.end()},
                .room = control_config.room,
                .full_table_advice = "[table] connections",
                .read_links = control_config.read_links,
                .tell = control_config.tell}),
        control(config, with_health(std::move(control_config))) {}

  Control::Config with_health(Control::Config config) {
    config.on_reload = [this] { check_anew(); };
    return config;
  }

  // What old checks still say is nobody's.
  void check_anew() {
    const std::scoped_lock lock(health_mutex);
    health.reset();
    health = check_health(control);
  }

  std::optional<Error> start(const Config& lb_config) {
    const config::ControlConfig& config = lb_config.control;
    if (begin) {
      if (auto error = begin()) return error;
    }
    if (!config.socket.empty()) {
      auto started = control::ControlSocket::start(
          {.path = config.socket, .mode = config.socket_mode, .group = config.socket_group},
          [this](std::string_view request) { return control.answer(request); });
      if (!started) return started.error();
      socket.emplace(std::move(started).value());
    }
    if (!config.metrics.empty()) {
      auto started = control::MetricsEndpoint::start(
          config.metrics, [this] { return metric_families(control.sample()); });
      if (!started) return Error{"[control] metrics: " + started.error().message};
      metrics.emplace(std::move(started).value());
    }
    telemetry = add_telemetry(control);
    check_anew();
    notice = control::ServiceNotice::start(room);
    event_watcher.emplace(events);
    reload_signal.emplace([this] { static_cast<void>(control.reload()); });
    return {};
  }

  node::Mailroom& room;
  std::function<std::optional<Error>()> begin;
  control::EventWatch::Config events;
  Control control;
  std::mutex health_mutex;
  std::unique_ptr<control::HealthChecker> health;  // outlives those that make it anew
  std::optional<control::ControlSocket> socket;
  std::optional<control::MetricsEndpoint> metrics;
  std::vector<io::TelemetryCommand> telemetry;
  std::unique_ptr<control::ServiceNotice> notice;
  std::optional<control::EventWatcher> event_watcher;
  std::optional<control::ReloadSignal> reload_signal;
};

Result<ControlPlane> ControlPlane::start(const Config& config, Control::Config control,
                                         const cpu_set_t& allowed) {
  std::vector<unsigned> cores;
  for (const ControlledWorker& worker : control.workers) cores.push_back(worker.core);
  const control::ControlPlacement placement(allowed, cores);
  auto faces = std::make_unique<Faces>(config, std::move(control));
  if (auto error = faces->start(config)) return *error;
  return ControlPlane(std::move(faces));
}

ControlPlane::ControlPlane(std::unique_ptr<Faces> faces) : faces_(std::move(faces)) {}
ControlPlane::ControlPlane(ControlPlane&&) noexcept = default;
ControlPlane::~ControlPlane() = default;

}  // namespace roost::lb
