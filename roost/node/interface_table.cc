#include "roost/node/interface_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "roost/net/neighbour_discovery.h"

namespace roost::node {

namespace {

constexpr uint16_t kIpv4MtuMin = 68;    // RFC 791 section 3.2
constexpr uint16_t kIpv6MtuMin = 1280;  // RFC 8200 section 5

std::string port_name(size_t port) { return "port " + std::to_string(port); }

std::optional<Error> check_interface(const Interface& interface, size_t port) {
  if (interface.mac.is_multicast()) {
    return Error{port_name(port) + ": " + interface.mac.format() +
                 " is the MAC of a group; give the port a unicast MAC"};
  }
  for (const net::IpPrefix& prefix : interface.addresses) {
    const uint16_t mtu_min = prefix.address.is_ipv6() ? kIpv6MtuMin : kIpv4MtuMin;
    if (interface.mtu < mtu_min) {
      return Error{port_name(port) + ": MTU " + std::to_string(interface.mtu) +
                   " is too small for " + prefix.format() + "; the least is " +
                   std::to_string(mtu_min)};
    }
  }
  return {};
}

// Two prefixes name the same network: which port a packet leaves by would depend on their order.
bool is_same_network(const net::IpPrefix& a, const net::IpPrefix& b) {
  return a.prefix_bits == b.prefix_bits && a.contains(b.address);
}

std::optional<Error> check_pair(const net::IpPrefix& a, size_t port_a, const net::IpPrefix& b,
                                size_t port_b) {
  if (a.address == b.address) {
    return Error{port_name(port_b) + ": " + b.address.format() + " is already the address of " +
                 port_name(port_a) + "; give each port its own"};
  }
  if (port_a != port_b && is_same_network(a, b)) {
    return Error{port_name(port_b) + ": the network of " + b.format() +
                 " is already connected to " + port_name(port_a) +
                 "; connect each network to one port"};
  }
  return {};
}

}  // namespace

std::optional<net::Ipv6Address> link_local_address(const Interface& interface) {
  bool has_ipv6 = false;
  for (const net::IpPrefix& own : interface.addresses) {
    if (!own.address.is_ipv6()) continue;
    if (own.address.ipv6().is_link_local()) return own.address.ipv6();
    has_ipv6 = true;
  }
  return has_ipv6 ? std::optional(net::link_local_address(interface.mac)) : std::nullopt;
}

Result<InterfaceTable> InterfaceTable::create(std::vector<Interface> interfaces,
                                              std::span<const Neighbour> neighbours) {
  InterfaceTable table(std::move(interfaces));
  if (auto error = table.check_interfaces()) return *error;
  table.next_hops_.reserve(neighbours.size());
  for (const Neighbour& neighbour : neighbours) {
    if (auto error = table.add_neighbour(neighbour)) return *error;
  }
  return table;
}

std::optional<Error> InterfaceTable::check_interfaces() const {
  struct Seen {
    const net::IpPrefix* prefix;
    size_t port;
  };
  std::vector<Seen> seen;
  for (size_t port = 0; port < interfaces_.size(); ++port) {
    if (auto error = check_interface(interfaces_[port], port)) return error;
    for (const net::IpPrefix& prefix : interfaces_[port].addresses) {
      for (const Seen& earlier : seen) {
        if (auto error = check_pair(*earlier.prefix, earlier.port, prefix, port)) return error;
      }
      seen.push_back({&prefix, port});
    }
  }
  return {};
}

std::optional<Error> InterfaceTable::add_neighbour(const Neighbour& neighbour) {
  const std::string name = "neighbour " + neighbour.address.format();
  if (neighbour.mac.is_multicast()) {
    return Error{name + ": " + neighbour.mac.format() +
                 " is the MAC of a group; give a unicast MAC"};
  }
  if (is_own_address(neighbour.address)) {
    return Error{name + ": this is a port's own address; a neighbour is somebody else"};
  }
  const std::optional<uint16_t> port = find_connected_port(neighbour.address);
  if (!port) {
    return Error{name +
                 ": no port's network contains it; add an address with that network to a port"};
  }
  const auto place = std::ranges::lower_bound(next_hops_, neighbour.address, {}, &Entry::address);
  if (place != next_hops_.end() && place->address == neighbour.address) {
    return Error{name + ": it is given twice; keep one"};
  }
  next_hops_.insert(place, Entry{neighbour.address, NextHop{*port, neighbour.mac}});
  return {};
}

const NextHop* InterfaceTable::find_next_hop(const net::IpAddress& address) const {
  const auto place = std::ranges::lower_bound(next_hops_, address, {}, &Entry::address);
  if (place == next_hops_.end() || place->address != address) return nullptr;
  return &place->next_hop;
}

std::optional<uint16_t> InterfaceTable::find_connected_port(const net::IpAddress& address) const {
  std::optional<uint16_t> longest_port;
  int longest_bits = -1;
  for (size_t port = 0; port < interfaces_.size(); ++port) {
    for (const net::IpPrefix& prefix : interfaces_[port].addresses) {
      if (prefix.prefix_bits <= longest_bits || !prefix.contains(address)) continue;
      longest_bits = prefix.prefix_bits;
      longest_port = static_cast<uint16_t>(port);
    }
  }
  return longest_port;
}

bool InterfaceTable::is_own_address(const net::IpAddress& address) const {
  return std::ranges::any_of(interfaces_, [&](const Interface& interface) {
    return std::ranges::any_of(interface.addresses,
                               [&](const net::IpPrefix& own) { return own.address == address; });
  });
}

}  // namespace roost::node
