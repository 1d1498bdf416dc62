// The next hop of a destination: on a connected network the destination itself, else the gateway of
// the longest prefix that contains it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/l3/interface_table.h"
#include "roost/l3/network_config.h"
#include "roost/net/address.h"

namespace roost::l3 {

// The next hop: the address itself, or its gateway.
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
