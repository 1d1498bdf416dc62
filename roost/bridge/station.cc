#include "roost/bridge/station.h"

namespace roost::bridge {

std::optional<net::MacAddress> parse_station_mac(std::string_view text) {
  const Result<net::MacAddress> mac = net::MacAddress::parse(text);
  return mac && mac.value().is_station() ? std::optional(mac.value()) : std::nullopt;
}

std::string why_not_there(const FdbKey& key, uint16_t port, size_t port_count,
                          const VlanPorts& vlans) {
  const net::PortSet ports = vlans.ports_of(key.vlan());
  const std::string vlan = "VLAN " + std::to_string(key.vlan());
  if (ports.empty()) return "no port has " + vlan + "; give it to one";
  if (port == FdbValue::kNoPort) return {};
  if (port >= port_count) {
    return "there is no port " + std::to_string(port) + "; give 0 to " +
           std::to_string(port_count - 1);
  }
  if (ports.has(port)) return {};
  return "port " + std::to_string(port) + " does not have " + vlan +
         "; give it the VLAN, or another port";
}

std::string port_text(uint16_t port) {
  return port == FdbValue::kNoPort ? "drop" : std::to_string(port);
}

std::string_view kind_name(FdbValue value) { return value.is_static() ? "static" : "learned"; }

}  // namespace roost::bridge
