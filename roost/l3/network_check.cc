// What must hold between ports, neighbours and routes: nothing twice, and every address that is
// named can be reached.
#include <string>
#include <utility>
#include <vector>

#include "roost/config/first_lines.h"
#include "roost/l3/network_config.h"
#include "roost/net/martian.h"

namespace roost::l3 {

namespace {

using config::at_line;
using config::FirstLines;

constexpr uint16_t kIpv6MtuMin = 1280;  // RFC 8200 section 5

// Whether all host bits have one value. A prefix without host bits, or with one only (RFC 3021,
// RFC 6164), has no address set aside for this.
bool are_host_bits(const net::IpPrefix& prefix, bool value) {
  const uint8_t bit_count = prefix.address.bit_count();
  if (prefix.prefix_bits + 1 >= bit_count) return false;
  const auto bit = [&](size_t i) {
    const uint8_t byte = prefix.address.is_ipv6() ? prefix.address.ipv6().bytes[i / 8]
                                                  : prefix.address.ipv4().bytes[i / 8];
    return ((byte >> (7 - i % 8)) & 1) != 0;
  };
  for (size_t i = prefix.prefix_bits; i < bit_count; ++i) {
    if (bit(i) != value) return false;
  }
  return true;
}

class NetworkCheck {
 public:
  NetworkCheck(const NetworkConfig& network, const NetworkRules& rules,
               std::vector<config::Fault>& faults)
      : network_(network), rules_(rules), faults_(faults) {}

  void run() {
    check_ports();
    for (const NeighbourConfig& neighbour : network_.neighbours) check_neighbour(neighbour);
    for (const RouteConfig& route : network_.routes) check_route(route);
  }

 private:
  void fault(uint32_t line, std::string text) { faults_.push_back({line, std::move(text)}); }

  void check_ports() {
    uint32_t gateway_line = 0;
    for (const PortConfig& port : network_.ports) {
      for (const net::IpPrefix& prefix : port.addresses) check_prefix(port, prefix);
      if (!port.default_neighbour_mac) continue;
      if (gateway_line != 0) {
        fault(port.line, "[[port]] default_neighbour_mac: the port of " + at_line(gateway_line) +
                             " has one already; keep one, for unknown addresses leave by one port");
      }
      gateway_line = port.line;
    }
  }

  void check_prefix(const PortConfig& port, const net::IpPrefix& prefix) {
    const std::string what = "[[port]] addresses: " + prefix.format();
    if (net::is_martian(prefix.address)) {
      fault(port.line, what + " is no address of a station; give the port a unicast address");
    } else if (prefix.prefix_bits == 0) {
      fault(port.line, what +
                           " holds every address; give the network's own length, and "
                           "default_neighbour_mac for the rest of the world");
    } else if (are_host_bits(prefix, false)) {
      fault(port.line, what +
                           " is the network, not an address in it; set the host bits, "
                           "as in \"192.0.2.1/24\"");
    } else if (!prefix.address.is_ipv6() && are_host_bits(prefix, true)) {
      fault(port.line, what + " is the network's broadcast address; give the port its own");
    }
    if (prefix.address.is_ipv6() && port.mtu && *port.mtu < kIpv6MtuMin) {
      fault(port.line, "[[port]] mtu: " + std::to_string(*port.mtu) + " is too small for " +
                           prefix.format() + "; IPv6 asks for 1280 or more");
    }
    if (const uint32_t line = own_addresses_.note(prefix.address, port.line)) {
      fault(port.line,
            what + ": the address is given in " + at_line(line) + " already; remove one");
      return;
    }
    for (const auto& [other, owner] : prefixes_) {
      if (owner->line != port.line && other.prefix_bits == prefix.prefix_bits &&
          other.contains(prefix.address)) {
        fault(port.line, what + ": its network is connected to the port of " +
                             at_line(owner->line) + " already; connect each network to one port");
      }
    }
    prefixes_.emplace_back(prefix, &port);
  }

  void check_neighbour(const NeighbourConfig& neighbour) {
    const std::string what = "[[neighbour]] " + neighbour.address.format();
    if (const uint32_t line = neighbours_.note(neighbour.address, neighbour.line)) {
      fault(neighbour.line, what + " is given in " + at_line(line) + " already; remove one");
    }
    if (!network_.is_whole) return;
    if (const uint32_t line = own_addresses_.find(neighbour.address)) {
      fault(neighbour.line, what + " is the address of the port of " + at_line(line) +
                                "; a neighbour is somebody else");
    } else if (!network_.is_connected(neighbour.address)) {
      fault(neighbour.line, what +
                                " is on no port's network; add an address of that network to a "
                                "[[port]]");
    }
  }

  void check_route(const RouteConfig& route) {
    const std::string what = "[[route]] " + route.prefix.format();
    if (const uint32_t line = route_prefixes_.note(route.prefix, route.line)) {
      fault(route.line, what + " is given in " + at_line(line) + " already; remove one");
    } else if (route_prefixes_.count() == rules_.routes_max + 1) {
      fault(route.line, "more than " + std::to_string(rules_.routes_max) +
                            " routes; leave the rest of the world to one gateway");
    }
    const bool is_single = route.prefix.prefix_bits + 1 >= route.prefix.address.bit_count();
    if (!is_single && !are_host_bits(route.prefix, false)) {
      fault(route.line,
            what + " names an address, not a network; clear the bits behind its length");
    }
    if (route.via.is_ipv6() != route.prefix.address.is_ipv6()) {
      fault(route.line, what + ": the gateway " + route.via.format() +
                            " is of another family; give one of the prefix's");
    } else if (network_.is_whole) {
      check_gateway(route, what + ": the gateway " + route.via.format());
    }
  }

  void check_gateway(const RouteConfig& route, const std::string& what) {
    if (const uint32_t line = own_addresses_.find(route.via)) {
      fault(route.line, what + " is the address of the port of " + at_line(line) +
                            "; a gateway is somebody else");
    } else if (!network_.is_connected(route.via)) {
      fault(route.line,
            what + " is on no port's network; add an address of that network to a [[port]]");
    }
  }

  const NetworkConfig& network_;
  const NetworkRules& rules_;
  std::vector<config::Fault>& faults_;
  std::vector<std::pair<net::IpPrefix, const PortConfig*>> prefixes_;
  FirstLines<net::IpAddress> own_addresses_;
  FirstLines<net::IpAddress> neighbours_;
  FirstLines<net::IpPrefix> route_prefixes_;
};

}  // namespace

void check_network(const NetworkConfig& network, const NetworkRules& rules,
                   std::vector<config::Fault>& faults) {
  NetworkCheck(network, rules, faults).run();
}

void check_wire(NetworkConfig& network, std::string_view name, std::vector<config::Fault>& faults) {
  const std::string key(name);
  if (network.ports.size() != 2) {
    faults.push_back({0, key + ": there are " + std::to_string(network.ports.size()) +
                             " [[port]]s; a wire has two ends, give two"});
  }
  for (PortConfig& port : network.ports) {
    port.promiscuous = true;
    if (port.addresses.empty() && port.vlan.empty() && !port.default_neighbour_mac) continue;
    faults.push_back({port.line,
                      "[[port]]: the ends of a wire have no addresses, tags or neighbours; remove "
                      "them, or " +
                          key});
  }
  if (!network.neighbours.empty() || !network.routes.empty()) {
    faults.push_back({0, key + ": everything goes to the other port; remove [[neighbour]] and "
                               "[[route]]"});
  }
}

}  // namespace roost::l3
