// By which neighbour a packet leaves: one on a connected network is its own next hop, everybody
// else is behind the gateway of the longest prefix that contains them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/l3/interface_table.h"
#include "roost/l3/network_config.h"
#include "roost/net/address.h"

namespace roost::l3 {

// Who to ask for: the address itself, or its gateway.
struct RouteHop {
  uint16_t out_port = 0;
  net::IpAddress neighbour{};

  bool operator==(const RouteHop&) const = default;
};

// Immutable once made.
class RouteTable {
 public:
  // Routes of a checked configuration.
  RouteTable(const InterfaceTable& interfaces, std::span<const RouteConfig> routes);

  // The longest prefix, connected networks before routes of the same length. Nothing: nowhere.
  // O(ports' addresses and routes).
  [[nodiscard]] std::optional<RouteHop> find(const net::IpAddress& address) const;

 private:
  struct Entry {
    net::IpPrefix prefix{};
    uint16_t out_port = 0;
    std::optional<net::IpAddress> gateway{};  // nothing: connected
  };

  std::vector<Entry> entries_;  // longest prefixes first
};

}  // namespace roost::l3
