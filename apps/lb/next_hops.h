// By whom packets for an address leave: its neighbour if it is on a connected network, else the
// gateway of the longest route. A port's default neighbour stands for everybody who is no
// [[neighbour]] and on no [[route]], stations of its own network included.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/lb/config.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/node/interface_table.h"
#include "roost/node/multicast_listener.h"
#include "roost/node/neighbours.h"
#include "roost/node/routes.h"

namespace roost::lb {

// Addresses that the balancer answers for itself, all sorted.
struct LocalAddresses {
  std::vector<node::AnsweredAddress> asked{};  // by ARP and neighbour discovery, on their port
  std::vector<net::IpAddress> ours{};
  std::vector<node::ListenedGroup> groups{};  // by which those of IPv6 are asked for
};

// A port's own addresses, the virtual ones, and those of `fullnat`; the latter two are asked for on
// the ports of their networks.
[[nodiscard]] LocalAddresses local_addresses(const Config& config,
                                             std::vector<net::IpAddress> virtual_addresses);

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
  // Whether this is a port's own address, a virtual one, or one of `fullnat`: a ping of it is
  // answered, and nobody else sends from it.
  [[nodiscard]] bool is_ours(const net::IpAddress& address) const {
    return std::ranges::binary_search(ours_, address);
  }
  // The port by which packets for the address leave; nothing when there is no way.
  [[nodiscard]] std::optional<uint16_t> port_towards(const net::IpAddress& address);
  // Answers for these addresses from now on; what it answered for is in `local` afterwards.
  void exchange_local(LocalAddresses& local) {
    neighbours_.exchange_answered(local.asked);
    listener_.exchange_groups(local.groups);
    std::swap(ours_, local.ours);
  }
  // Tells the ports' networks of the addresses, and of the groups by which they are asked for.
  void announce() {
    neighbours_.announce();
    listener_.report_all();
  }
  // What is due, at most `budget` neighbours.
  void advance(Tick now, net::Outbox& outbox, uint64_t budget) {
    listener_.advance(now, outbox);
    neighbours_.advance(now, outbox, budget);
  }
  [[nodiscard]] node::MulticastListener& listener() { return listener_; }
  [[nodiscard]] const node::MulticastListener& listener() const { return listener_; }
  [[nodiscard]] node::Neighbours& neighbours() { return neighbours_; }
  [[nodiscard]] const node::Neighbours& neighbours() const { return neighbours_; }

 private:
  NextHops(node::InterfaceTable interfaces, node::RouteTable routes, node::Neighbours neighbours,
           node::MulticastListener listener)
      : interfaces_(std::move(interfaces)),
        routes_(std::move(routes)),
        neighbours_(std::move(neighbours)),
        listener_(std::move(listener)) {}
  void pin_configured(const Config& config);

  node::InterfaceTable interfaces_;
  node::RouteTable routes_;
  node::Neighbours neighbours_;
  node::MulticastListener listener_;
  std::vector<net::IpAddress> ours_;  // sorted
  std::optional<node::NeighbourIndex> default_neighbour_;
};

}  // namespace roost::lb
