#include "apps/lb/config/announce_config.h"

#include <algorithm>

#include "roost/config/message_text.h"

namespace roost::lb {

namespace {

constexpr size_t kDeviceBytesMax = 15;  // the kernel's IFNAMSIZ has 16
constexpr double kStopSecondsMax = 60;
// The kernel's own tables, which its packets' ways stand in: default, main, local.
constexpr uint64_t kOwnTableMin = 253;
constexpr uint64_t kOwnTableMax = 255;
constexpr uint64_t kTableMax = 0xffff'ffff;

}  // namespace

std::optional<AnnounceConfig> read_announce(config::TomlTable& top,
                                            std::vector<config::Fault>& faults) {
  const toml::table* toml = top.table("announce");
  if (toml == nullptr) return {};
  config::TomlTable table(*toml, "[announce]", faults);
  AnnounceConfig config{.line = table.line()};
  table.require("table", "table = 4343, as the routing daemon has it");
  const uint64_t number = table.integer("table", {1, kTableMax}).value_or(0);
  if (number >= kOwnTableMin && number <= kOwnTableMax) {
    table.fault_in("table", "the host's own routes stand in " + std::to_string(number) +
                                "; give a table that nobody else uses, such as 4343");
  }
  config.table = static_cast<uint32_t>(number);
  config.device = table.text("device").value_or(config.device);
  const bool is_plain = std::ranges::all_of(config.device, [](char c) {
    return c > ' ' && c <= '~' && c != '/' && c != '%' && c != ':';
  });
  if (config.device.empty() || config.device.size() > kDeviceBytesMax || !is_plain) {
    table.fault_in("device", config::in_quotes(config.device) +
                                 " cannot be a network device's name; give 1 to 15 visible ASCII "
                                 "characters without '/', '%' and ':'");
  }
  config.stop_seconds = table.number("stop_seconds").value_or(config.stop_seconds);
  if (!(config.stop_seconds >= 0 && config.stop_seconds <= kStopSecondsMax)) {
    table.fault_in("stop_seconds", "give 0 to 60");
  }
  table.refuse_unknown_keys();
  return config;
}

}  // namespace roost::lb
