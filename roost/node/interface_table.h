// Where a packet leaves: the ports' addresses, the networks connected to them, and the neighbours
// on those networks.
//
// Neighbours are static, so everything that could be ambiguous is settled when the table is made:
// each neighbour belongs to the port with the longest connected prefix that contains it. What is
// left for a packet is one exact match, in a sorted array, because a router with static neighbours
// has few of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/net/address.h"
#include "roost/net/parse.h"

namespace roost::node {

inline constexpr uint16_t kMtuDefault = 1500;

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

// Somebody on a connected network.
struct Neighbour {
  net::IpAddress address;
  net::MacAddress mac;
};

// An address that is answered for on a port: the port's own, or one that it stands for.
struct AnsweredAddress {
  uint16_t port = 0;
  net::IpAddress address{};

  auto operator<=>(const AnsweredAddress&) const = default;
};

struct NextHop {
  uint16_t out_port = 0;        // index of the interface
  net::MacAddress destination;  // of the frame

  bool operator==(const NextHop&) const = default;
};

// Immutable once made; any thread may read it.
class InterfaceTable {
 public:
  // Interfaces stand in port order. Refused, with what to change: an address or a network on two
  // ports, an MTU below what the IP version asks for, a MAC of a group, a neighbour on no connected
  // network, a neighbour given twice, a neighbour with a port's own address.
  static Result<InterfaceTable> create(std::vector<Interface> interfaces,
                                       std::span<const Neighbour> neighbours);

  [[nodiscard]] std::span<const Interface> interfaces() const { return interfaces_; }

  // The neighbour's port and MAC; nullptr when no neighbour has this address. O(log neighbours).
  [[nodiscard]] const NextHop* find_next_hop(const net::IpAddress& address) const;

  // The port whose connected network contains the address, by the longest prefix.
  [[nodiscard]] std::optional<uint16_t> find_connected_port(const net::IpAddress& address) const;

  // Whether a port itself has this address.
  [[nodiscard]] bool is_own_address(const net::IpAddress& address) const;

 private:
  struct Entry {
    net::IpAddress address;
    NextHop next_hop;
  };

  explicit InterfaceTable(std::vector<Interface> interfaces) : interfaces_(std::move(interfaces)) {}
  std::optional<Error> check_interfaces() const;
  std::optional<Error> add_neighbour(const Neighbour& neighbour);

  std::vector<Interface> interfaces_;
  std::vector<Entry> next_hops_;  // sorted by address
};

}  // namespace roost::node
