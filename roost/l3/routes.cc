#include "roost/l3/routes.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::l3 {

RouteTable::RouteTable(const InterfaceTable& interfaces, std::span<const RouteConfig> routes) {
  for (uint16_t port = 0; port < interfaces.interfaces().size(); ++port) {
    for (const net::IpPrefix& own : interfaces.interfaces()[port].addresses) {
      entries_.push_back({own, port, {}});
    }
  }
  for (const RouteConfig& route : routes) {
    const auto port = interfaces.find_connected_port(route.via);
    ROOST_ASSERT(port.has_value());
    entries_.push_back({route.prefix, *port, route.via});
  }
  std::ranges::stable_sort(entries_, std::ranges::greater(),
                           [](const Entry& entry) { return entry.prefix.prefix_bits; });
}

std::optional<RouteHop> RouteTable::find(const net::IpAddress& address) const {
  for (const Entry& entry : entries_) {
    if (entry.prefix.contains(address))
      return RouteHop{entry.out_port, entry.gateway.value_or(address)};
  }
  return {};
}

}  // namespace roost::l3
