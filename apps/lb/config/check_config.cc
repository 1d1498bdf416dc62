#include "apps/lb/config/check_config.h"

#include <algorithm>

#include "apps/lb/config/check_kind_config.h"
#include "roost/net/headers.h"

namespace roost::lb {

namespace {

constexpr uint64_t kStreakMax = 1'000;
constexpr double kSecondsMin = 0.05;
constexpr double kSecondsMax = 3'600;

double read_seconds(config::TomlTable& table, std::string_view key, double seconds_default) {
  const double seconds = table.number(key).value_or(seconds_default);
  if (seconds >= kSecondsMin && seconds <= kSecondsMax) return seconds;
  table.fault_in(key, "too short or too long; give 0.05 to 3600 seconds");
  return seconds_default;
}

}  // namespace

std::optional<CheckConfig> read_check(config::TomlTable& service,
                                      std::vector<config::Fault>& faults) {
  const toml::table* toml = service.table("check");
  if (toml == nullptr) return {};
  config::TomlTable table(*toml, "check", faults);
  CheckConfig check;
  check.kind = read_check_kind(*toml, table);
  if (const auto port = table.integer("port", {1, net::kL4PortMax})) {
    check.port = static_cast<uint16_t>(*port);
  }
  check.every_seconds = read_seconds(table, "every_seconds", check.every_seconds);
  check.timeout_seconds =
      read_seconds(table, "timeout_seconds", std::min(check.timeout_seconds, check.every_seconds));
  check.rise = static_cast<uint32_t>(table.integer("rise", {1, kStreakMax}).value_or(check.rise));
  check.fall = static_cast<uint32_t>(table.integer("fall", {1, kStreakMax}).value_or(check.fall));
  table.refuse_unknown_keys();
  return check;
}

}  // namespace roost::lb
