#include "roost/l3/next_hops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/hash/random_seed.h"
#include "roost/net/headers.h"

namespace roost::l3 {

namespace {

constexpr double kOwnFramesASecondMax = 1'000;  // announcements, and reports of groups
constexpr size_t kLinkHeaderBytesMax = net::ethernet::kHeaderBytes + 2 * net::vlan::kTagBytes;

uint32_t own_frames_a_tick_max(double tick_seconds) {
  const double frames = kOwnFramesASecondMax * std::min(tick_seconds, 1.0);
  return static_cast<uint32_t>(std::max(frames, 1.0));
}

MulticastListener::Config listener_config(const NextHops::Config& config) {
  return {.tick_seconds = config.tick_seconds,
          .repeat = NeighbourTicks::of_seconds(config.tick_seconds).announce,
          .frames_a_tick_max = own_frames_a_tick_max(config.tick_seconds),
          .seed = config.hash_seed.value_or(random_seed())};
}

Neighbours::Config neighbours_config(const NextHops::Config& config) {
  const NetworkConfig& network = config.network;
  uint32_t mtu_max = kMtuDefault;
  for (const PortConfig& port : network.ports) {
    mtu_max = std::max<uint32_t>(mtu_max, port.mtu.value_or(0));
  }
  const size_t pinned_count =
      network.neighbours.size() + network.routes.size() + config.pinned_count_max + 1;
  return {.pinned_count_max = static_cast<uint32_t>(pinned_count),
          .unsolicited_a_tick_max = own_frames_a_tick_max(config.tick_seconds),
          .waiting = {.frame_bytes_max = mtu_max + static_cast<uint32_t>(kLinkHeaderBytesMax)},
          .ticks = NeighbourTicks::of_seconds(config.tick_seconds),
          .hash_seed = config.hash_seed};
}

template <class Address>
net::AddressNumbers<Address> addresses_of(std::span<const net::IpAddress> addresses) {
  std::vector<std::pair<Address, uint16_t>> found;
  for (const net::IpAddress& address : addresses) {
    if (const auto one = address.as<Address>()) found.emplace_back(*one, uint16_t{0});
  }
  return net::AddressNumbers<Address>(found);
}

template <class Value>
void sort_unique(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

}  // namespace

LocalAddresses local_addresses(std::span<const PortConfig> ports,
                               const std::vector<net::IpAddress>& of_function) {
  LocalAddresses local;
  std::vector<net::IpAddress> ours = of_function;
  const auto port_count = static_cast<uint16_t>(ports.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    for (const net::IpPrefix& own : ports[port].addresses) {
      local.advertised.push_back({port, own.address});
      ours.push_back(own.address);
      for (const net::IpAddress& address : of_function) {
        if (own.contains(address)) local.advertised.push_back({port, address});
      }
    }
  }
  sort_unique(local.advertised);
  local.ours = {addresses_of<net::Ipv4Address>(ours), addresses_of<net::Ipv6Address>(ours)};
  local.groups = listened_groups(local.advertised, ports.size());
  return local;
}

Result<NextHops> NextHops::create(const Config& config) {
  const NetworkConfig& network = config.network;
  InterfaceTable interfaces(network.ports, config.device_macs);
  RouteTable routes(interfaces, network.routes);
  LocalAddresses local = l3::local_addresses(network.ports, config.local_addresses);
  // The interfaces stay in their vector's memory when the table moves.
  auto neighbours =
      Neighbours::create(neighbours_config(config), interfaces.interfaces(), local.advertised);
  if (!neighbours) return neighbours.error();
  MulticastListener listener(listener_config(config), interfaces.interfaces(),
                             std::move(local.groups));
  NextHops next_hops(std::move(interfaces), std::move(routes), std::move(neighbours).value(),
                     std::move(listener));
  next_hops.ours_ = std::move(local.ours);
  next_hops.pin_configured(network);
  return next_hops;
}

// Of an address that a checked configuration has on a port's network.
uint16_t NextHops::connected_port(const net::IpAddress& address) const {
  const std::optional<uint16_t> port = interfaces_.find_connected_port(address);
  ROOST_ASSERT(port.has_value());
  return *port;
}

void NextHops::pin_configured(const NetworkConfig& network) {
  for (const NeighbourConfig& neighbour : network.neighbours) {
    neighbours_.pin_static(connected_port(neighbour.address), neighbour.address, neighbour.mac);
  }
  const auto port_count = static_cast<uint16_t>(network.ports.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    if (const auto& mac = network.ports[port].default_neighbour_mac) {
      default_neighbour_ = neighbours_.pin_static(port, {}, *mac);
    }
  }
  for (const RouteConfig& route : network.routes) {
    neighbours_.pin(connected_port(route.via), route.via);
  }
}

NeighbourIndex NextHops::pin(const net::IpAddress& address) {
  const std::optional<RouteHop> hop = routes_.find(address);
  if (hop) {
    const NeighbourIndex known = neighbours_.find(hop->out_port, hop->neighbour);
    if (known != kNoNeighbour) return known;
    if (!default_neighbour_) return neighbours_.pin(hop->out_port, hop->neighbour);
  }
  ROOST_ASSERT(default_neighbour_.has_value());
  return *default_neighbour_;
}

NeighbourIndex NextHops::find(const net::IpAddress& address, Tick now) {
  const std::optional<RouteHop> hop = routes_.find(address);
  if (hop) {
    const NeighbourIndex known = neighbours_.find(hop->out_port, hop->neighbour);
    if (known != kNoNeighbour) return known;
  }
  if (default_neighbour_) return *default_neighbour_;
  return hop ? neighbours_.find_or_make(hop->out_port, hop->neighbour, now) : kNoNeighbour;
}

std::optional<uint16_t> NextHops::port_towards(const net::IpAddress& address) {
  const std::optional<RouteHop> hop = routes_.find(address);
  if (hop &&
      (!default_neighbour_ || neighbours_.find(hop->out_port, hop->neighbour) != kNoNeighbour)) {
    return hop->out_port;
  }
  if (!default_neighbour_) return {};
  return neighbours_.port(*default_neighbour_);
}

}  // namespace roost::l3
