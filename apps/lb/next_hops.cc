#include "apps/lb/next_hops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "roost/hash/random_seed.h"

namespace roost::lb {

namespace {

// Of two tags the outer is a service tag (IEEE 802.1ad); priorities are zero.
net::VlanTags tags_of(const std::vector<uint16_t>& identifiers) {
  net::VlanTags tags;
  for (const uint16_t identifier : identifiers) {
    const bool is_outer_of_two = identifiers.size() == 2 && tags.count == 0;
    tags.tags[tags.count++] = {is_outer_of_two ? net::vlan::kService : net::vlan::kCustomer,
                               identifier};
  }
  return tags;
}

constexpr double kOwnFramesASecondMax = 1'000;  // announcements, and reports of groups
constexpr size_t kLinkHeaderBytesMax = net::ethernet::kHeaderBytes + 2 * net::vlan::kTagBytes;

std::vector<node::Interface> interfaces_of(const Config& config,
                                           std::span<const net::MacAddress> device_macs) {
  ROOST_ASSERT(device_macs.size() == config.ports.size());
  std::vector<node::Interface> interfaces;
  for (size_t i = 0; i < config.ports.size(); ++i) {
    const PortConfig& port = config.ports[i];
    interfaces.push_back({.addresses = port.addresses,
                          .mac = port.mac.value_or(device_macs[i]),
                          .vlan = tags_of(port.vlan),
                          .mtu = port.mtu.value_or(node::kMtuDefault)});
  }
  return interfaces;
}

uint32_t own_frames_a_tick_max(const Config& config) {
  const double frames = kOwnFramesASecondMax * std::min(config.tick_seconds(), 1.0);
  return static_cast<uint32_t>(std::max(frames, 1.0));
}

node::MulticastListener::Config listener_config(const Config& config) {
  return {.tick_seconds = config.tick_seconds(),
          .repeat = node::NeighbourTicks::of_seconds(config.tick_seconds()).announce,
          .frames_a_tick_max = own_frames_a_tick_max(config),
          .seed = config.table.hash_seed.value_or(random_seed())};
}

node::Neighbours::Config neighbours_config(const Config& config) {
  size_t backend_count = 0;
  uint32_t mtu_max = node::kMtuDefault;
  for (const ServiceConfig& service : config.services) backend_count += service.backends.size();
  for (const PortConfig& port : config.ports) {
    mtu_max = std::max<uint32_t>(mtu_max, port.mtu.value_or(0));
  }
  return {.pinned_count_max = static_cast<uint32_t>(config.neighbours.size() +
                                                    config.routes.size() + backend_count + 1),
          .announcements_a_tick_max = own_frames_a_tick_max(config),
          .waiting = {.frame_bytes_max = mtu_max + static_cast<uint32_t>(kLinkHeaderBytesMax)},
          .ticks = node::NeighbourTicks::of_seconds(config.tick_seconds()),
          .hash_seed = config.table.hash_seed};
}

template <class Value>
void sort_unique(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

}  // namespace

LocalAddresses local_addresses(const Config& config,
                               std::vector<net::IpAddress> virtual_addresses) {
  LocalAddresses local{.asked = {}, .ours = std::move(virtual_addresses), .groups = {}};
  local.ours.insert(local.ours.end(), config.fullnat.addresses.begin(),
                    config.fullnat.addresses.end());
  const std::vector<net::IpAddress> portless = local.ours;
  const auto port_count = static_cast<uint16_t>(config.ports.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    for (const net::IpPrefix& own : config.ports[port].addresses) {
      local.asked.push_back({port, own.address});
      local.ours.push_back(own.address);
      for (const net::IpAddress& address : portless) {
        if (own.contains(address)) local.asked.push_back({port, address});
      }
    }
  }
  sort_unique(local.asked);  // services share addresses
  sort_unique(local.ours);
  local.groups = node::listened_groups(local.asked, config.ports.size());
  return local;
}

Result<NextHops> NextHops::create(const Config& config,
                                  std::span<const net::MacAddress> device_macs) {
  std::vector<node::Neighbour> statics;
  for (const NeighbourConfig& neighbour : config.neighbours) {
    statics.push_back({neighbour.address, neighbour.mac});
  }
  auto interfaces = node::InterfaceTable::create(interfaces_of(config, device_macs), statics);
  if (!interfaces) return interfaces.error();
  std::vector<node::Route> configured_routes;
  for (const RouteConfig& route : config.routes) {
    configured_routes.push_back({route.prefix, route.via});
  }
  auto routes = node::RouteTable::create(interfaces.value(), configured_routes);
  if (!routes) return routes.error();
  std::vector<net::IpAddress> virtual_addresses;
  for (const ServiceConfig& service : config.services) virtual_addresses.push_back(service.address);
  LocalAddresses local = local_addresses(config, std::move(virtual_addresses));
  // The interfaces stay in their vector's memory when the table moves.
  auto neighbours = node::Neighbours::create(neighbours_config(config),
                                             interfaces.value().interfaces(), local.asked);
  if (!neighbours) return neighbours.error();
  node::MulticastListener listener(listener_config(config), interfaces.value().interfaces(),
                                   std::move(local.groups));
  NextHops next_hops(std::move(interfaces).value(), std::move(routes).value(),
                     std::move(neighbours).value(), std::move(listener));
  next_hops.ours_ = std::move(local.ours);
  next_hops.pin_configured(config);
  return next_hops;
}

void NextHops::pin_configured(const Config& config) {
  for (const NeighbourConfig& neighbour : config.neighbours) {
    const node::NextHop* hop = interfaces_.find_next_hop(neighbour.address);
    ROOST_ASSERT(hop != nullptr);
    neighbours_.pin_static(hop->out_port, neighbour.address, hop->destination);
  }
  const auto port_count = static_cast<uint16_t>(config.ports.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    if (const auto& mac = config.ports[port].default_neighbour_mac) {
      default_neighbour_ = neighbours_.pin_static(port, {}, *mac);
    }
  }
  for (const RouteConfig& route : config.routes) {
    neighbours_.pin(interfaces_.find_connected_port(route.via).value(), route.via);
  }
}

node::NeighbourIndex NextHops::pin(const net::IpAddress& address) {
  const std::optional<node::RouteHop> hop = routes_.find(address);
  if (hop) {
    const node::NeighbourIndex known = neighbours_.find(hop->out_port, hop->neighbour);
    if (known != node::kNoNeighbour) return known;
    if (!default_neighbour_) return neighbours_.pin(hop->out_port, hop->neighbour);
  }
  ROOST_ASSERT(default_neighbour_.has_value());
  return *default_neighbour_;
}

node::NeighbourIndex NextHops::find(const net::IpAddress& address, Tick now) {
  const std::optional<node::RouteHop> hop = routes_.find(address);
  if (hop) {
    const node::NeighbourIndex known = neighbours_.find(hop->out_port, hop->neighbour);
    if (known != node::kNoNeighbour) return known;
  }
  if (default_neighbour_) return *default_neighbour_;
  return hop ? neighbours_.find_or_make(hop->out_port, hop->neighbour, now) : node::kNoNeighbour;
}

std::optional<uint16_t> NextHops::port_towards(const net::IpAddress& address) {
  const std::optional<node::RouteHop> hop = routes_.find(address);
  if (hop && (!default_neighbour_ ||
              neighbours_.find(hop->out_port, hop->neighbour) != node::kNoNeighbour)) {
    return hop->out_port;
  }
  if (!default_neighbour_) return {};
  return neighbours_.port(*default_neighbour_);
}

}  // namespace roost::lb
