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

void HealthChecks::check_anew() {
  const std::scoped_lock lock(mutex_);
  checker_.reset();
  std::vector<Control::CheckedBackend> backends = control_.checked_backends();
  if (backends.empty()) return;
  std::vector<control::HealthTarget> targets;
  for (const Control::CheckedBackend& backend : backends) {
    const CheckConfig& check = backend.check;
    targets.push_back({.address = backend.address,
                       .port = backend.port,
                       .mark = backend.mark,
                       .kind = check.kind,
                       .interval = milliseconds_of(check.every_seconds),
                       .timeout = milliseconds_of(check.timeout_seconds),
                       .rise = check.rise,
                       .fall = check.fall,
                       .is_well = backend.is_well,
                       .failure = backend.failure});
  }
  checker_ = std::make_unique<control::HealthChecker>(
      std::move(targets), [this, backends = std::move(backends)](size_t target, bool is_well,
                                                                 const std::string& failure) {
        return !control_.set_health(backends[target], is_well, failure);
      });
}

}  // namespace roost::lb
