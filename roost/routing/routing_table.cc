#include "roost/routing/routing_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "roost/base/assert.h"
#include "roost/l3/interface_table.h"

namespace roost::routing {

Result<std::shared_ptr<const RoutingTable>> RoutingTable::create(const l3::NetworkConfig& network,
                                                                 std::span<const NextHop> before) {
  std::vector<NextHop> hops(before.begin(), before.end());
  hops.resize(std::max(hops.size(), size_t{kLocal} + 1));
  std::map<std::pair<uint16_t, std::optional<net::IpAddress>>, io::Fib::Hop> numbers;
  for (size_t hop = kLocal + 1; hop < hops.size(); ++hop) {
    numbers.emplace(std::pair(hops[hop].out_port, hops[hop].gateway), hop);
  }
  const auto number_of = [&](const NextHop& hop) {
    const auto [at, is_new] = numbers.emplace(std::pair(hop.out_port, hop.gateway), hops.size());
    if (is_new) hops.push_back(hop);
    return at->second;
  };

  // Of the same prefix the first counts: a port's own network before a route.
  std::vector<io::Fib::Route> routes;
  const std::vector<net::MacAddress> no_macs(network.ports.size());
  const l3::InterfaceTable interfaces(network.ports, no_macs);
  const auto port_count = static_cast<uint16_t>(network.ports.size());
  for (uint16_t port = 0; port < port_count; ++port) {
    for (const net::IpPrefix& own : network.ports[port].addresses) {
      routes.push_back({{own.address, own.address.bit_count()}, kLocal});
      routes.push_back({own, number_of({port, {}})});
    }
  }
  for (const l3::RouteConfig& route : network.routes) {
    const std::optional<uint16_t> port = interfaces.find_connected_port(route.via);
    ROOST_ASSERT(port.has_value());
    if (hops.size() > io::Fib::kHopMax) {
      return Error{"[[route]]: more gateways than a table of routes can name (32,765)"};
    }
    routes.push_back({route.prefix, number_of({*port, route.via})});
  }
  Result<io::Fib> fib = io::Fib::create(routes);
  if (!fib) return fib.error();
  return std::shared_ptr<const RoutingTable>(
      new RoutingTable{std::move(fib).value(), std::move(hops), std::move(routes)});
}

}  // namespace roost::routing
