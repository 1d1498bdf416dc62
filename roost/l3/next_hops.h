// The next hop of an address: its neighbour if it is on a connected network, else the gateway of
// the longest route. A port's default neighbour is the next hop of every address without a
// [[neighbour]] or [[route]], those of its own network included.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/l3/interface_table.h"
#include "roost/l3/multicast_listener.h"
#include "roost/l3/neighbours.h"
#include "roost/l3/network_config.h"
#include "roost/l3/routes.h"
#include "roost/net/address_numbers.h"

namespace roost::l3 {

// Local addresses, all sorted.
// Those that are the function's itself, by family.
struct OwnAddresses {
  net::AddressNumbers<net::Ipv4Address> ipv4{};
  net::AddressNumbers<net::Ipv6Address> ipv6{};
};

struct LocalAddresses {
  std::vector<LocalAddress> advertised{};  // by ARP and ND, by port
  OwnAddresses ours{};
  std::vector<ListenedGroup> groups{};  // solicited-node groups of those of IPv6
};

// The ports' own addresses, and the function's: the latter on the ports of their networks.
[[nodiscard]] LocalAddresses local_addresses(std::span<const PortConfig> ports,
                                             const std::vector<net::IpAddress>& of_function);

// One worker's.
class NextHops {
 public:
  struct Config {
    const NetworkConfig& network;                   // checked
    std::span<const net::MacAddress> device_macs;   // by port, for those that are given none
    std::vector<net::IpAddress> local_addresses{};  // the function's, beside the ports' own
    size_t pinned_count_max = 0;                    // of addresses that the function pins
    double tick_seconds = 1;
    std::optional<uint64_t> hash_seed{};  // else random
  };
  static Result<NextHops> create(const Config& config);

  // The neighbour for a reachable address; never removed.
  NeighbourIndex pin(const net::IpAddress& address);

  // Whether packets for the address can leave, once their neighbour is reachable.
  [[nodiscard]] bool is_reachable(const net::IpAddress& address) const {
    return default_neighbour_ || routes_.find(address);
  }

  // The neighbour for an address, created if need be; kNoNeighbour when there is no way or no room.
  NeighbourIndex find(const net::IpAddress& address, Tick now);

  [[nodiscard]] std::span<const Interface> interfaces() const { return interfaces_.interfaces(); }
  [[nodiscard]] const Interface& interface(uint16_t port) const {
    return interfaces_.interfaces()[port];
  }
  // Whether this is a local address, a port's or the function's: a ping of it is answered, and no
  // other station may send from it.
  [[nodiscard]] bool is_ours(const net::Ipv4Address& address) const {
    return ours_.ipv4.find(address).has_value();
  }
  [[nodiscard]] bool is_ours(const net::Ipv6Address& address) const {
    return ours_.ipv6.find(address).has_value();
  }
  [[nodiscard]] bool is_ours(const net::IpAddress& address) const {
    return address.is_ipv6() ? is_ours(address.ipv6()) : is_ours(address.ipv4());
  }
  // The port by which packets for the address leave; nothing when there is no way.
  [[nodiscard]] std::optional<uint16_t> port_towards(const net::IpAddress& address);
  // Advertises these addresses from now on; those it had are in `local` afterwards.
  void exchange_local(LocalAddresses& local) {
    neighbours_.exchange_local(local.advertised);
    listener_.exchange_groups(local.groups);
    std::swap(ours_, local.ours);
  }
  // Announces the addresses on their ports, and reports their solicited-node groups.
  void announce() {
    neighbours_.announce();
    listener_.report_all();
  }
  // What is due, at most `budget` neighbours.
  void advance(Tick now, net::Outbox& outbox, uint64_t budget) {
    listener_.advance(now, outbox);
    neighbours_.advance(now, outbox, budget);
  }
  [[nodiscard]] MulticastListener& listener() { return listener_; }
  [[nodiscard]] const MulticastListener& listener() const { return listener_; }
  [[nodiscard]] Neighbours& neighbours() { return neighbours_; }
  [[nodiscard]] const Neighbours& neighbours() const { return neighbours_; }

 private:
  NextHops(InterfaceTable interfaces, RouteTable routes, Neighbours neighbours,
           MulticastListener listener)
      : interfaces_(std::move(interfaces)),
        routes_(std::move(routes)),
        neighbours_(std::move(neighbours)),
        listener_(std::move(listener)) {}
  [[nodiscard]] uint16_t connected_port(const net::IpAddress& address) const;
  void pin_configured(const NetworkConfig& network);

  InterfaceTable interfaces_;
  RouteTable routes_;
  Neighbours neighbours_;
  MulticastListener listener_;
  OwnAddresses ours_;
  std::optional<NeighbourIndex> default_neighbour_;
};

}  // namespace roost::l3
