#include "apps/lb/control/health.h"

#include <chrono>
#include <utility>
#include <vector>

namespace roost::lb {

namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1'000));
}

}  // namespace

std::unique_ptr<control::HealthChecker> check_health(Control& control) {
  std::vector<Control::CheckedBackend> backends = control.checked_backends();
  if (backends.empty()) return nullptr;
  std::vector<control::HealthTarget> targets;
  for (const Control::CheckedBackend& backend : backends) {
    const CheckConfig& check = backend.check;
    targets.push_back({.address = backend.address,
                       .port = backend.port,
                       .http_path = check.http_path,
                       .interval = milliseconds_of(check.every_seconds),
                       .timeout = milliseconds_of(check.timeout_seconds),
                       .rise = check.rise,
                       .fall = check.fall,
                       .is_well = backend.is_well});
  }
  return std::make_unique<control::HealthChecker>(
      std::move(targets), [&control, backends = std::move(backends)](size_t target, bool is_well) {
        return !control.set_health(backends[target], is_well);
      });
}

}  // namespace roost::lb
