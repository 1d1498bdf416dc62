// The ports as the network sees them: their addresses, and the networks connected to them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/l3/network_config.h"
#include "roost/net/address.h"
#include "roost/net/parse.h"

namespace roost::l3 {

// One port as the network sees it.
struct Interface {
  std::vector<net::IpPrefix> addresses;  // its own addresses, each with the length of its network
  net::MacAddress mac;
  net::VlanTags vlan;          // tags of every frame on this port
  uint16_t mtu = kMtuDefault;  // largest IP packet, in bytes
};

// The port's address of the link alone: the first such one that it is given, else that of its MAC
// (RFC 4291 appendix A). Nothing when it has no IPv6 address at all.
[[nodiscard]] std::optional<net::Ipv6Address> link_local_address(const Interface& interface);

// The port's source address towards a destination: one that shares a network with that address (RFC
// 1812 section 4.3.2.4), else its first of the same family.
[[nodiscard]] std::optional<net::IpAddress> source_towards(const Interface& interface,
                                                           const net::IpAddress& address);

// An address that is advertised on a port by ARP or ND: the port's own, or the function's.
struct LocalAddress {
  uint16_t port = 0;
  net::IpAddress address{};

  auto operator<=>(const LocalAddress&) const = default;
};

// Immutable once made; any thread may read it.
class InterfaceTable {
 public:
  // Interfaces stand in port order, and fit together as check_network() requires.
  explicit InterfaceTable(std::vector<Interface> interfaces) : interfaces_(std::move(interfaces)) {}
  // Those of a checked configuration. `device_macs`: the MAC of each port's device, for ports whose
  // configuration gives none.
  InterfaceTable(std::span<const PortConfig> ports, std::span<const net::MacAddress> device_macs);

  [[nodiscard]] std::span<const Interface> interfaces() const { return interfaces_; }

  // The port whose connected network contains the address, by the longest prefix.
  [[nodiscard]] std::optional<uint16_t> find_connected_port(const net::IpAddress& address) const;

  // Whether a port itself has this address.
  [[nodiscard]] bool is_own_address(const net::IpAddress& address) const;

 private:
  std::vector<Interface> interfaces_;
};

}  // namespace roost::l3
