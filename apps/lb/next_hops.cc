#include "apps/lb/next_hops.h"

#include <utility>
#include <vector>

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

}  // namespace

Result<NextHops> NextHops::create(const Config& config,
                                  std::span<const net::MacAddress> device_macs) {
  ROOST_ASSERT(device_macs.size() == config.ports.size());
  std::vector<node::Interface> interfaces;
  std::optional<node::NextHop> default_hop;
  for (size_t i = 0; i < config.ports.size(); ++i) {
    const PortConfig& port = config.ports[i];
    interfaces.push_back({.addresses = port.addresses,
                          .mac = port.mac.value_or(device_macs[i]),
                          .vlan = tags_of(port.vlan),
                          .mtu = port.mtu.value_or(node::kMtuDefault)});
    if (port.default_neighbour_mac) {
      default_hop = node::NextHop{static_cast<uint16_t>(i), *port.default_neighbour_mac};
    }
  }
  std::vector<node::Neighbour> neighbours;
  for (const NeighbourConfig& neighbour : config.neighbours) {
    neighbours.push_back({neighbour.address, neighbour.mac});
  }
  auto table = node::InterfaceTable::create(std::move(interfaces), neighbours);
  if (!table) return table.error();
  NextHops next_hops(std::move(table).value());
  next_hops.default_hop_ = default_hop;
  return next_hops;
}

}  // namespace roost::lb
