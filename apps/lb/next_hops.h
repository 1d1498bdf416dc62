// Where packets for an address leave: by the static neighbours of the connected networks, else by
// the one port that has a default neighbour, a router for everybody else.
#pragma once

#include <optional>
#include <span>

#include "apps/lb/config.h"
#include "roost/base/result.h"
#include "roost/node/interface_table.h"

namespace roost::lb {

// Immutable once made.
class NextHops {
 public:
  // `device_macs`: the MAC of each port's device, for ports whose configuration gives none.
  static Result<NextHops> create(const Config& config,
                                 std::span<const net::MacAddress> device_macs);

  // O(log neighbours).
  [[nodiscard]] std::optional<node::NextHop> find(const net::IpAddress& address) const {
    const node::NextHop* neighbour = interfaces_.find_next_hop(address);
    return neighbour != nullptr ? std::optional(*neighbour) : default_hop_;
  }

  [[nodiscard]] const node::Interface& interface(uint16_t port) const {
    return interfaces_.interfaces()[port];
  }

 private:
  explicit NextHops(node::InterfaceTable interfaces) : interfaces_(std::move(interfaces)) {}

  node::InterfaceTable interfaces_;
  std::optional<node::NextHop> default_hop_;
};

}  // namespace roost::lb
