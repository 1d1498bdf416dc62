#include "apps/switch/config/station_config.h"

#include <optional>
#include <string>

#include "roost/bridge/station.h"
#include "roost/config/first_lines.h"
#include "roost/config/toml_table.h"

namespace roost::switching {

namespace {

std::optional<StationConfig> read_station(const toml::table& toml, size_t port_count,
                                          const bridge::VlanPorts& vlans,
                                          std::vector<config::Fault>& faults) {
  config::TomlTable table(toml, "[[station]]", faults);
  table.require("mac", "mac = \"02:00:00:00:01:10\"");
  table.require("vlan", "vlan = 10");
  const auto mac = table.mac("mac");
  const auto vlan = table.integer("vlan", {bridge::kVlanMin, bridge::kVlanMax});
  const auto port = table.integer("port", {0, port_count - 1});
  const bool drops = table.boolean("drop").value_or(false);
  if (drops == toml.contains("port")) {
    table.fault(table.line(), drops ? "[[station]] has a port and drops; remove one of both"
                                    : "[[station]] has no port; give `port`, or `drop = true`");
  }
  table.refuse_unknown_keys();
  if (!mac || !vlan || drops == port.has_value()) return {};
  StationConfig station{.key = bridge::FdbKey(static_cast<uint16_t>(*vlan), *mac),
                        .port = static_cast<uint16_t>(port.value_or(bridge::FdbValue::kNoPort)),
                        .line = table.line()};
  const std::string why = bridge::why_not_there(station.key, station.port, port_count, vlans);
  if (!why.empty()) table.fault(table.line(), "[[station]]: " + why);
  return station;
}

}  // namespace

std::vector<StationConfig> read_stations(config::TomlTable& top, size_t port_count,
                                         const bridge::VlanPorts& vlans,
                                         std::vector<config::Fault>& faults) {
  std::vector<StationConfig> stations;
  for (const toml::table* station : top.tables("station")) {
    if (auto read = read_station(*station, port_count, vlans, faults)) stations.push_back(*read);
  }
  config::FirstLines<bridge::FdbKey> first;
  for (const StationConfig& station : stations) {
    const uint32_t line = first.note(station.key, station.line);
    if (line == 0) continue;
    faults.push_back({station.line, "[[station]]: " + station.key.mac().format() + " of VLAN " +
                                        std::to_string(station.key.vlan()) + " is in " +
                                        config::at_line(line) + " already; remove one"});
  }
  return stations;
}

}  // namespace roost::switching
