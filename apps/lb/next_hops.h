// By whom packets for an address leave: its neighbour if it is on a connected network, else the
// gateway of the longest route. A port's default neighbour stands for everybody who is no
// [[neighbour]] and on no [[route]], stations of its own network included.
#pragma once

#include <optional>
#include <span>

#include "apps/lb/config.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/node/interface_table.h"
#include "roost/node/neighbours.h"
#include "roost/node/routes.h"

namespace roost::lb {

// One worker's.
class NextHops {
 public:
  // `device_macs`: the MAC of each port's device, for ports whose configuration gives none.
  static Result<NextHops> create(const Config& config,
                                 std::span<const net::MacAddress> device_macs);

  // The neighbour for an address of the configuration, which leads somewhere; kept for ever.
  node::NeighbourIndex pin(const net::IpAddress& address);

  // Whether packets for the address can leave, once their neighbour answers.
  [[nodiscard]] bool is_reachable(const net::IpAddress& address) const {
    return default_neighbour_ || routes_.find(address);
  }

  // The neighbour for an address, made if need be; kNoNeighbour when there is no way or no room.
  node::NeighbourIndex find(const net::IpAddress& address, Tick now);

  [[nodiscard]] const node::Interface& interface(uint16_t port) const {
    return interfaces_.interfaces()[port];
  }
  [[nodiscard]] bool is_own_address(const net::IpAddress& address) const {
    return interfaces_.is_own_address(address);
  }
  [[nodiscard]] node::Neighbours& neighbours() { return neighbours_; }
  [[nodiscard]] const node::Neighbours& neighbours() const { return neighbours_; }

 private:
  NextHops(node::InterfaceTable interfaces, node::RouteTable routes, node::Neighbours neighbours)
      : interfaces_(std::move(interfaces)),
        routes_(std::move(routes)),
        neighbours_(std::move(neighbours)) {}
  void pin_configured(const Config& config);

  node::InterfaceTable interfaces_;
  node::RouteTable routes_;
  node::Neighbours neighbours_;
  std::optional<node::NeighbourIndex> default_neighbour_;
};

}  // namespace roost::lb
