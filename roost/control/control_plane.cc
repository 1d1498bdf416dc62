#include "roost/control/control_plane.h"

#include <optional>
#include <utility>

#include "roost/control/control_socket.h"
#include "roost/control/reload_signal.h"
#include "roost/control/service_notice.h"
#include "roost/control/telemetry.h"
#include "roost/control/thread_placement.h"

namespace roost::control {

struct ControlPlane::Faces {
  Faces(Control& shown, Config chosen) : control(shown), config(std::move(chosen)) {}

  std::optional<Error> start() {
    if (config.begin) {
      if (auto error = config.begin()) return error;
    }
    if (auto error = open_sockets()) return error;
    telemetry = add_telemetry(control);
    if (config.on_started) {
      if (auto error = config.on_started()) return error;
    }
    notice = ServiceNotice::start(control.mailboxes());
    event_watcher.emplace(
        EventWatch::Config{.workers = {control.workers().begin(), control.workers().end()},
                           .mailboxes = &control.mailboxes(),
                           .full_table_advice = config.full_table_advice,
                           .read_links = config.read_links,
                           .tell = control.tell(),
                           .look_also = [this] { control.look(); }});
    reload_signal.emplace([this] { static_cast<void>(control.reload()); });
    return {};
  }

  std::optional<Error> open_sockets() {
    if (!config.faces.socket.empty()) {
      auto started = ControlSocket::start(
          {.path = config.faces.socket,
           .mode = config.faces.socket_mode,
           .group = config.faces.socket_group},
          [this](std::string_view request) { return control.answer(request); });
      if (!started) return started.error();
      socket.emplace(std::move(started).value());
    }
    if (!config.faces.metrics.empty()) {
      auto started = MetricsEndpoint::start(config.faces.metrics, config.metrics);
      if (!started) return Error{"[control] metrics: " + started.error().message};
      metrics.emplace(std::move(started).value());
    }
    return {};
  }

  void close_sockets() {
    socket.reset();
    metrics.reset();
  }

  Control& control;
  const Config config;
  std::optional<ControlSocket> socket;
  std::optional<MetricsEndpoint> metrics;
  std::vector<io::TelemetryCommand> telemetry;
  std::unique_ptr<ServiceNotice> notice;
  std::optional<EventWatcher> event_watcher;
  std::optional<ReloadSignal> reload_signal;
};

Result<ControlPlane> ControlPlane::start(Control& control, const Config& config) {
  std::vector<unsigned> cores;
  for (const WorkerHandle& worker : control.workers()) cores.push_back(worker.core);
  const ControlPlacement placement(config.allowed, cores);
  auto faces = std::make_unique<Faces>(control, config);
  if (auto error = faces->start()) return *error;
  return ControlPlane(std::move(faces));
}

ControlPlane::ControlPlane(std::unique_ptr<Faces> faces) : faces_(std::move(faces)) {}
ControlPlane::ControlPlane(ControlPlane&&) noexcept = default;
ControlPlane::~ControlPlane() = default;

void ControlPlane::close_sockets() { faces_->close_sockets(); }
std::optional<Error> ControlPlane::open_sockets() { return faces_->open_sockets(); }

}  // namespace roost::control
