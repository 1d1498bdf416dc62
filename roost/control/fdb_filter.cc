#include "roost/control/fdb_filter.h"

#include "roost/bridge/station.h"
#include "roost/control/commands.h"

namespace roost::control {

Result<FdbFilter> parse_filter(const Json& parameters, size_t port_count) {
  FdbFilter filter;
  const auto vlan = parse_number(parameters, "vlan", bridge::kVlanMin, bridge::kVlanMax);
  if (!vlan) return vlan.error();
  if (vlan.value()) filter.vlan = static_cast<uint16_t>(*vlan.value());
  const auto port = parse_number(parameters, "port", 0, port_count - 1);
  if (!port) return port.error();
  if (port.value()) filter.port = static_cast<uint16_t>(*port.value());
  if (parameters.contains("mac")) {
    const auto mac = bridge::parse_station_mac(parameters["mac"].get<std::string>());
    if (!mac) return Error{"mac: give the address of one station, such as 02:00:00:00:01:10"};
    filter.mac_word = bridge::FdbKey(0, *mac).mac_word();
  }
  if (parameters.contains("kind")) filter.is_static = parameters["kind"] == "static";
  return filter;
}

}  // namespace roost::control
