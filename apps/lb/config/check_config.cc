#include "apps/lb/config/check_config.h"

#include <algorithm>

#include "roost/config/message_text.h"
#include "roost/net/headers.h"

namespace roost::lb {

namespace {

constexpr uint64_t kStreakMax = 1'000;
constexpr double kSecondsMin = 0.05;
constexpr double kSecondsMax = 3'600;
constexpr size_t kPathBytesMax = 1'024;

double read_seconds(config::TomlTable& table, std::string_view key, double seconds_default) {
  const double seconds = table.number(key).value_or(seconds_default);
  if (seconds >= kSecondsMin && seconds <= kSecondsMax) return seconds;
  table.fault_in(key, "too short or too long; give 0.05 to 3600 seconds");
  return seconds_default;
}

void read_kind(config::TomlTable& table, CheckConfig& check) {
  table.require("kind", "kind = \"tcp\" or \"http\"");
  const std::optional<std::string> kind = table.text("kind");
  const std::optional<std::string> path = table.text("path");
  if (kind && *kind != "tcp" && *kind != "http") {
    table.fault_in("kind", config::in_quotes(*kind) + " is no check; give \"tcp\" or \"http\"");
  }
  if (kind != "http") {
    if (path) table.fault_in("path", "only HTTP has one; give kind = \"http\", or leave it out");
    return;
  }
  check.http_path = path.value_or("/");
  const bool is_plain =
      std::ranges::all_of(check.http_path, [](char c) { return c > ' ' && c <= '~'; });
  if (!check.http_path.starts_with('/') || !is_plain || check.http_path.size() > kPathBytesMax) {
    table.fault_in("path",
                   config::in_quotes(check.http_path) + " is no path; write it like \"/health\"");
  }
}

}  // namespace

std::optional<CheckConfig> read_check(config::TomlTable& service,
                                      std::vector<config::Fault>& faults) {
  const toml::table* toml = service.table("check");
  if (toml == nullptr) return {};
  config::TomlTable table(*toml, "check", faults);
  CheckConfig check;
  read_kind(table, check);
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
