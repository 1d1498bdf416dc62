// What of the network a running function cannot change.
#include <algorithm>
#include <tuple>

#include "roost/config/comparison.h"
#include "roost/l3/network_config.h"

namespace roost::l3 {

namespace {

void compare_port(const PortConfig& running, const PortConfig& file,
                  config::Comparison& comparison) {
  // All members are named, so that a new one does not compile until it is compared, or is not on
  // purpose.
  const auto& [addresses, vlan, mac, promiscuous, mtu, default_neighbour_mac, rss, is_inside,
               line] = file;
  comparison.compare(line, "[[port]] addresses", running.addresses, addresses);
  comparison.compare(line, "[[port]] vlan", running.vlan, vlan);
  comparison.compare(line, "[[port]] mac", running.mac, mac);
  comparison.compare(line, "[[port]] promiscuous", running.promiscuous, promiscuous);
  comparison.compare(line, "[[port]] mtu", running.mtu, mtu);
  comparison.compare(line, "[[port]] default_neighbour_mac", running.default_neighbour_mac,
                     default_neighbour_mac);
  comparison.compare(line, "[[port]] rss", running.rss, rss);
  comparison.compare(line, "[[port]] inside", running.is_inside, is_inside);
}

}  // namespace

void compare_network(const NetworkConfig& running, const NetworkConfig& file,
                     config::Comparison& comparison) {
  comparison.compare(0, "the number of [[port]]s", running.ports.size(), file.ports.size());
  for (size_t i = 0; i < std::min(running.ports.size(), file.ports.size()); ++i) {
    compare_port(running.ports[i], file.ports[i], comparison);
  }
  comparison.compare_lists(
      "[[neighbour]]", running.neighbours, file.neighbours,
      [](const NeighbourConfig& one) { return std::tuple(one.address, one.mac); });
  comparison.compare_lists("[[route]]", running.routes, file.routes,
                           [](const RouteConfig& one) { return std::tuple(one.prefix, one.via); });
}

}  // namespace roost::l3
