#include "roost/config/tick_config.h"

#include <cmath>
#include <optional>

#include "roost/config/toml_table.h"

namespace roost::config {

namespace {

constexpr uint64_t kMicroseconds = 1'000'000;  // in a second
constexpr uint64_t kTickMicrosecondsMin = 1'000;
constexpr uint64_t kTickMicrosecondsMax = 3'600 * kMicroseconds;

}  // namespace

uint64_t read_tick(TomlTable& top, uint64_t microseconds_default) {
  const std::optional<double> seconds = top.number("tick_seconds");
  if (!seconds) return microseconds_default;
  const double microseconds = *seconds * kMicroseconds;
  if (!(microseconds >= kTickMicrosecondsMin && microseconds <= kTickMicrosecondsMax)) {
    top.fault_in("tick_seconds", "a tick is too short or too long; give 0.001 to 3600 seconds");
    return microseconds_default;
  }
  if (std::abs(microseconds - std::round(microseconds)) > 1e-3) {
    top.fault_in("tick_seconds",
                 "a tick is no whole number of microseconds; give at most six decimals");
  }
  return static_cast<uint64_t>(std::llround(microseconds));
}

}  // namespace roost::config
