#include "roost/l3/interface_table.h"

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/net/neighbour_discovery.h"

namespace roost::l3 {

namespace {

// Of two tags the outer is a service tag (IEEE 802.1ad); priorities are zero.
net::VlanTags tags_of(const std::vector<uint16_t>& identifiers) {
  net::VlanTags tags;
  for (const uint16_t identifier : identifiers) {
    const bool is_outer_of_two = identifiers.size() == 2 && tags.count == 0;
    tags.tags[tags.count++] = {is_outer_of_two ? net::vlan::kService : net::vlan::kCustomer,
                               identifier};
  }
  return tags;
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

std::optional<net::IpAddress> source_towards(const Interface& interface,
                                             const net::IpAddress& address) {
  std::optional<net::IpAddress> source;
  for (const net::IpPrefix& own : interface.addresses) {
    if (own.contains(address)) return own.address;
    if (!source && own.address.is_ipv6() == address.is_ipv6()) source = own.address;
  }
  return source;
}

InterfaceTable::InterfaceTable(std::span<const PortConfig> ports,
                               std::span<const net::MacAddress> device_macs) {
  ROOST_ASSERT(device_macs.size() == ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const PortConfig& port = ports[i];
    interfaces_.push_back({.addresses = port.addresses,
                           .mac = port.mac.value_or(device_macs[i]),
                           .vlan = tags_of(port.vlan),
                           .mtu = port.mtu_or_default()});
  }
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

}  // namespace roost::l3
