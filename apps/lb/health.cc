#include "apps/lb/health.h"

#include <chrono>
#include <utility>
#include <vector>

namespace roost::lb {

namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1'000));
}

// A backend's place in the configuration.
struct Place {
  size_t service = 0;
  size_t backend = 0;
};

}  // namespace

std::unique_ptr<node::HealthChecker> check_health(const Config& config, Control& control) {
  std::vector<node::HealthTarget> targets;
  std::vector<Place> places;
  for (size_t s = 0; s < config.services.size(); ++s) {
    const ServiceConfig& service = config.services[s];
    if (!service.check) continue;
    const CheckConfig& check = *service.check;
    for (size_t b = 0; b < service.backends.size(); ++b) {
      targets.push_back({.address = service.backends[b].address,
                         .port = check.port.value_or(service.backends[b].port),
                         .http_path = check.http_path,
                         .interval = milliseconds_of(check.every_seconds),
                         .timeout = milliseconds_of(check.timeout_seconds),
                         .rise = check.rise,
                         .fall = check.fall});
      places.push_back({s, b});
    }
  }
  if (targets.empty()) return nullptr;
  return std::make_unique<node::HealthChecker>(
      std::move(targets), [&control, places = std::move(places)](size_t target, bool is_well) {
        return !control.set_health(places[target].service, places[target].backend, is_well);
      });
}

}  // namespace roost::lb
