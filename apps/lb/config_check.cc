#include "apps/lb/config_check.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "apps/lb/mode_check.h"
#include "roost/net/flow_key.h"
#include "roost/net/martian.h"

namespace roost::lb {

namespace {

constexpr uint16_t kIpv6MtuMin = 1280;  // RFC 8200 section 5
constexpr size_t kRoutesMax = 256;      // they are searched one by one

// Where something stood first, by what it is.
template <class Identity>
class FirstLines {
 public:
  // The line of the earlier one with this identity; 0 when this is the first.
  uint32_t note(Identity identity, uint32_t line) {
    const auto [place, is_first] = lines_.emplace(std::move(identity), line);
    return is_first ? 0 : place->second;
  }
  [[nodiscard]] uint32_t find(const Identity& identity) const {
    const auto place = lines_.find(identity);
    return place == lines_.end() ? 0 : place->second;
  }

  [[nodiscard]] size_t count() const { return lines_.size(); }

 private:
  std::map<Identity, uint32_t> lines_;
};

using ServiceEndpoint = std::tuple<net::IpAddress, uint16_t, net::IpProtocol>;

std::string at_line(uint32_t line) { return "line " + std::to_string(line); }

// No forwarded packet may carry it, so that it cannot be anybody's. It is judged as one end of a
// flow whose other end is beyond doubt.
bool is_martian(const net::IpAddress& address) {
  if (address.is_ipv6()) {
    net::FlowKey6 key{.source = address.ipv6(), .destination = {{0x20, 0x01, 0x0d, 0xb8}}};
    if (key.source == key.destination) key.destination.bytes[15] = 1;
    return has_martian_address(key);
  }
  net::FlowKey4 key{.source = address.ipv4(), .destination = {{192, 0, 2, 1}}};
  if (key.source == key.destination) key.destination.bytes[3] = 2;
  return has_martian_address(key);
}

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

class Check {
 public:
  Check(const Config& config, bool is_network_known, std::vector<Fault>& faults)
      : config_(config), is_network_known_(is_network_known), faults_(faults) {}

  void run() {
    check_ports();
    for (const NeighbourConfig& neighbour : config_.neighbours) check_neighbour(neighbour);
    for (const RouteConfig& route : config_.routes) check_route(route);
    for (const ServiceConfig& service : config_.services) note_service(service);
    for (const ServiceConfig& service : config_.services) check_backends(service);
    check_modes(config_, is_network_known_, faults_);
  }

 private:
  void fault(uint32_t line, std::string text) { faults_.push_back({line, std::move(text)}); }

  void check_ports() {
    uint32_t gateway_line = 0;
    for (const PortConfig& port : config_.ports) {
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
    if (is_martian(prefix.address)) {
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

  [[nodiscard]] bool is_routed(const net::IpAddress& address) const {
    return std::ranges::any_of(
        config_.routes, [&](const RouteConfig& route) { return route.prefix.contains(address); });
  }

  void check_neighbour(const NeighbourConfig& neighbour) {
    const std::string what = "[[neighbour]] " + neighbour.address.format();
    if (const uint32_t line = neighbours_.note(neighbour.address, neighbour.line)) {
      fault(neighbour.line, what + " is given in " + at_line(line) + " already; remove one");
    }
    if (!is_network_known_) return;
    if (const uint32_t line = own_addresses_.find(neighbour.address)) {
      fault(neighbour.line, what + " is the address of the port of " + at_line(line) +
                                "; a neighbour is somebody else");
    } else if (!config_.is_connected(neighbour.address)) {
      fault(neighbour.line, what +
                                " is on no port's network; add an address of that network to a "
                                "[[port]]");
    }
  }

  void check_route(const RouteConfig& route) {
    const std::string what = "[[route]] " + route.prefix.format();
    if (const uint32_t line = route_prefixes_.note(route.prefix, route.line)) {
      fault(route.line, what + " is given in " + at_line(line) + " already; remove one");
    } else if (route_prefixes_.count() == kRoutesMax + 1) {
      fault(route.line, "more than " + std::to_string(kRoutesMax) +
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
    } else if (is_network_known_) {
      check_gateway(route, what + ": the gateway " + route.via.format());
    }
  }

  void check_gateway(const RouteConfig& route, const std::string& what) {
    if (const uint32_t line = own_addresses_.find(route.via)) {
      fault(route.line, what + " is the address of the port of " + at_line(line) +
                            "; a gateway is somebody else");
    } else if (!config_.is_connected(route.via)) {
      fault(route.line,
            what + " is on no port's network; add an address of that network to a [[port]]");
    }
  }

  void note_service(const ServiceConfig& service) {
    const std::string what = "[[service]] " + service.name;
    if (const uint32_t line = service_names_.note(service.name, service.line)) {
      fault(service.line,
            what + ": the name is given in " + at_line(line) + " already; choose another");
    }
    if (const uint32_t line = service_endpoints_.note(
            {service.address, service.port, service.protocol}, service.line)) {
      fault(service.line, what + ": address, port and protocol are those of the service of " +
                              at_line(line) + "; each can be balanced once");
    }
    if (is_martian(service.address)) {
      fault(service.line, what + ": " + service.address.format() +
                              " is no address of a station; give a unicast address");
    }
  }

  void check_backends(const ServiceConfig& service) {
    FirstLines<std::string> names;
    FirstLines<std::pair<net::IpAddress, uint16_t>> endpoints;
    for (const BackendConfig& backend : service.backends) {
      const std::string what = "[[service]] " + service.name + " backend " + backend.name;
      if (const uint32_t line = names.note(backend.name, backend.line)) {
        fault(backend.line, what + ": the name is given in " + at_line(line) +
                                " already; name each backend of a service differently");
      }
      if (const uint32_t line = endpoints.note({backend.address, backend.port}, backend.line)) {
        fault(backend.line, what + ": address and port are those of the backend of " +
                                at_line(line) + "; give it more weight instead");
      }
      check_backend_address(service, backend, what);
    }
  }

  void check_backend_address(const ServiceConfig& service, const BackendConfig& backend,
                             const std::string& what) {
    const std::string address = backend.address.format();
    if (backend.address.is_ipv6() != service.address.is_ipv6()) {
      fault(backend.line, what + ": " + address + " is of another family than the service's " +
                              service.address.format() + "; make a service for each family");
      return;
    }
    if (const uint32_t line =
            service_endpoints_.find({backend.address, backend.port, service.protocol})) {
      fault(backend.line, what + ": it is the virtual address of the service of " + at_line(line) +
                              "; packets would go in circles");
    }
    if (!is_network_known_) return;
    if (const uint32_t line = own_addresses_.find(backend.address)) {
      fault(backend.line, what + ": " + address + " is the address of the port of " +
                              at_line(line) + "; a backend is another station");
    } else if (is_martian(backend.address)) {
      fault(backend.line,
            what + ": " + address + " is no address of a station; give a unicast address");
    } else if (!config_.is_connected(backend.address) && !is_routed(backend.address) &&
               !config_.has_gateway()) {
      fault(backend.line, what + ": " + address +
                              " is on no port's network; add an address of that network to a "
                              "[[port]], or a [[route]] to it");
    }
  }

  const Config& config_;
  bool is_network_known_;
  std::vector<Fault>& faults_;
  std::vector<std::pair<net::IpPrefix, const PortConfig*>> prefixes_;
  FirstLines<net::IpAddress> own_addresses_;
  FirstLines<net::IpAddress> neighbours_;
  FirstLines<net::IpPrefix> route_prefixes_;
  FirstLines<std::string> service_names_;
  FirstLines<ServiceEndpoint> service_endpoints_;
};

}  // namespace

void check_config(const Config& config, bool is_network_known, std::vector<Fault>& faults) {
  Check(config, is_network_known, faults).run();
}

}  // namespace roost::lb
