// By which neighbour a packet leaves: one on a connected network is its own next hop, everybody
// else is behind the gateway of the longest prefix that contains them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "roost/net/address.h"
#include "roost/node/interface_table.h"

namespace roost::node {

struct Route {
  net::IpPrefix prefix{};
  net::IpAddress via{};  // on a connected network
};

// Who to ask for: the address itself, or its gateway.
struct RouteHop {
  uint16_t out_port = 0;
  net::IpAddress neighbour{};

  bool operator==(const RouteHop&) const = default;
};

// Immutable once made.
class RouteTable {
 public:
  // Refused, with what to change: a gateway of another family, on no connected network, or that is
  // a port's own address; a prefix given twice.
  static Result<RouteTable> create(const InterfaceTable& interfaces, std::span<const Route> routes);

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

}  // namespace roost::node
