#include "roost/l3/network_config.h"

#include <string>
#include <utility>

#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"
#include "roost/net/headers.h"

namespace roost::l3 {

namespace {

using config::TomlTable;

constexpr uint64_t kMtuMin = 68;      // RFC 791 section 3.2
constexpr uint64_t kVlanMax = 4'094;  // 4,095 is reserved (IEEE 802.1Q table 9-2)

void read_port_addresses(TomlTable& table, bool is_required, PortConfig& port) {
  if (is_required) table.require("addresses", "addresses = [\"192.0.2.1/24\"], the port's own");
  const toml::array* array = table.array("addresses");
  if (array == nullptr) return;
  if (array->empty() && is_required)
    table.fault_in("addresses", "none is given; give at least one");
  port.addresses =
      table.prefixes("addresses",
                     "is no address with its network's length; write it like \"192.0.2.1/24\" or "
                     "\"2001:db8::1/64\"");
}

void read_vlan(TomlTable& table, PortConfig& port) {
  const toml::array* array = table.array("vlan");
  if (array == nullptr) return;
  if (array->size() > net::vlan::kTagsMax) {
    table.fault_in("vlan",
                   std::to_string(array->size()) + " tags; give none, one, or two (outer, inner)");
    return;
  }
  for (const uint64_t identifier : table.integers("vlan", {0, kVlanMax}, "not a VLAN identifier")) {
    port.vlan.push_back(static_cast<uint16_t>(identifier));
  }
}

PortConfig read_port(const toml::table& toml, const NetworkRules& rules,
                     std::vector<config::Fault>& faults) {
  TomlTable table(toml, "[[port]]", faults);
  PortConfig port{.line = table.line()};
  read_port_addresses(table, rules.needs_addresses, port);
  read_vlan(table, port);
  port.mac = table.mac("mac");
  port.promiscuous = table.boolean("promiscuous").value_or(false);
  if (const auto mtu = table.integer("mtu", {kMtuMin, net::kIpBytesMax})) {
    port.mtu = static_cast<uint16_t>(*mtu);
  }
  port.default_neighbour_mac = table.mac("default_neighbour_mac");
  port.rss = static_cast<net::RssInput>(table.choice("rss", kRssInputNames).value_or(0));
  if (rules.has_sides) port.is_inside = table.boolean("inside").value_or(false);
  table.refuse_unknown_keys();
  return port;
}

std::optional<NeighbourConfig> read_neighbour(const toml::table& toml,
                                              std::vector<config::Fault>& faults) {
  TomlTable table(toml, "[[neighbour]]", faults);
  table.require("address", "address = \"192.0.2.10\"");
  table.require("mac", "mac = \"02:00:00:00:01:10\"");
  const auto address = table.address("address");
  const auto mac = table.mac("mac");
  table.refuse_unknown_keys();
  if (!address || !mac) return {};
  return NeighbourConfig{*address, *mac, table.line()};
}

std::optional<net::IpPrefix> read_prefix(TomlTable& table) {
  const std::optional<std::string> written = table.text("prefix");
  if (!written) return {};
  const Result<net::IpPrefix> prefix = net::IpPrefix::parse(*written);
  if (prefix) return prefix.value();
  table.fault_in("prefix", config::in_quotes(*written) +
                               " is no prefix; write it like \"203.0.113.0/24\", or \"0.0.0.0/0\" "
                               "or \"::/0\" for everybody");
  return {};
}

std::optional<RouteConfig> read_route(const toml::table& toml, std::vector<config::Fault>& faults) {
  TomlTable table(toml, "[[route]]", faults);
  table.require("prefix", "prefix = \"0.0.0.0/0\"");
  table.require("via", "via = \"192.0.2.254\", a gateway on a port's network");
  const auto prefix = read_prefix(table);
  const auto via = table.address("via");
  table.refuse_unknown_keys();
  if (!prefix || !via) return {};
  return RouteConfig{*prefix, *via, table.line()};
}

}  // namespace

NetworkConfig read_network(TomlTable& top, std::vector<config::Fault>& faults,
                           const NetworkRules& rules) {
  NetworkConfig network;
  const size_t faults_before = faults.size();
  top.require("port", "a [[port]] for each port, in DPDK's order");
  for (const toml::table* port : top.tables("port")) {
    network.ports.push_back(read_port(*port, rules, faults));
  }
  for (const toml::table* neighbour : top.tables("neighbour")) {
    if (auto read = read_neighbour(*neighbour, faults)) network.neighbours.push_back(*read);
  }
  for (const toml::table* route : top.tables("route")) {
    if (auto read = read_route(*route, faults)) network.routes.push_back(*read);
  }
  network.is_whole = faults.size() == faults_before;
  check_network(network, rules, faults);
  return network;
}

}  // namespace roost::l3
