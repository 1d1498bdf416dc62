#include "roost/node/routes.h"

#include <algorithm>
#include <string>

namespace roost::node {

Result<RouteTable> RouteTable::create(const InterfaceTable& interfaces,
                                      std::span<const Route> routes) {
  RouteTable table;
  for (uint16_t port = 0; port < interfaces.interfaces().size(); ++port) {
    for (const net::IpPrefix& own : interfaces.interfaces()[port].addresses) {
      table.entries_.push_back({own, port, {}});
    }
  }
  for (size_t i = 0; i < routes.size(); ++i) {
    const Route& route = routes[i];
    const std::string name = "route " + route.prefix.format() + " via " + route.via.format();
    const auto port = interfaces.find_connected_port(route.via);
    if (route.via.is_ipv6() != route.prefix.address.is_ipv6()) {
      return Error{name + ": the gateway is of another family; give one of the prefix's"};
    }
    if (!port) {
      return Error{name + ": no port's network contains the gateway; give one that is on a link"};
    }
    if (interfaces.is_own_address(route.via)) {
      return Error{name + ": the gateway is a port's own address; a gateway is somebody else"};
    }
    for (const Route& earlier : routes.first(i)) {
      if (earlier.prefix.prefix_bits == route.prefix.prefix_bits &&
          earlier.prefix.contains(route.prefix.address)) {
        return Error{name + ": the prefix is given twice; keep one"};
      }
    }
    table.entries_.push_back({route.prefix, *port, route.via});
  }
  std::ranges::stable_sort(table.entries_, std::ranges::greater(),
                           [](const Entry& entry) { return entry.prefix.prefix_bits; });
  return table;
}

std::optional<RouteHop> RouteTable::find(const net::IpAddress& address) const {
  for (const Entry& entry : entries_) {
    if (entry.prefix.contains(address))
      return RouteHop{entry.out_port, entry.gateway.value_or(address)};
  }
  return {};
}

}  // namespace roost::node
