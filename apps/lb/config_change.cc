#include "apps/lb/config_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace roost::lb {

namespace {

class Comparison {
 public:
  template <class Value>
  void compare(uint32_t line, const char* what, const Value& running, const Value& file) {
    if (file != running) refuse(line, what);
  }

  // Lists of things in any order; `identity` is what they are, without their lines.
  template <class Element, class Identity>
  void compare_lists(const char* what, const std::vector<Element>& running,
                     const std::vector<Element>& file, Identity identity) {
    const auto has = [&](const std::vector<Element>& all, const Element& one) {
      return std::ranges::find(all, identity(one), identity) != all.end();
    };
    for (const Element& one : file) {
      if (!has(running, one)) return refuse(one.line, what);
    }
    for (const Element& one : running) {
      if (!has(file, one)) return refuse(0, what);
    }
  }

  void fault(uint32_t line, std::string text) { faults_.push_back({line, std::move(text)}); }
  std::vector<Fault> take() { return std::move(faults_); }

 private:
  void refuse(uint32_t line, const char* what) {
    fault(line, std::string(what) +
                    " cannot change while the balancer runs; put it back, or restart the balancer");
  }

  std::vector<Fault> faults_;
};

void compare_port(const PortConfig& running, const PortConfig& file, Comparison& comparison) {
  // All members are named, so that a new one does not compile until it is compared, or is not on
  // purpose.
  const auto& [addresses, vlan, mac, promiscuous, mtu, default_neighbour_mac, rss, line] = file;
  comparison.compare(line, "[[port]] addresses", running.addresses, addresses);
  comparison.compare(line, "[[port]] vlan", running.vlan, vlan);
  comparison.compare(line, "[[port]] mac", running.mac, mac);
  comparison.compare(line, "[[port]] promiscuous", running.promiscuous, promiscuous);
  comparison.compare(line, "[[port]] mtu", running.mtu, mtu);
  comparison.compare(line, "[[port]] default_neighbour_mac", running.default_neighbour_mac,
                     default_neighbour_mac);
  comparison.compare(line, "[[port]] rss", running.rss, rss);
}

}  // namespace

std::vector<Fault> refused_changes(const Config& running, const Config& file,
                                   const std::array<bool, 2>& has_tables) {
  Comparison comparison;
  // As above: who adds a member says whether it may change.
  const auto& [tick_microseconds, maglev_seed, table, ports, neighbours, routes, services, timeouts,
               verify_l4_checksum, fullnat, gue_port, control, workers] = file;
  comparison.compare(0, "tick_seconds", running.tick_microseconds, tick_microseconds);
  comparison.compare(0, "[table] connections", running.table.connections, table.connections);
  if (table.hash_seed) {
    comparison.compare(0, "[table] hash_seed", running.table.hash_seed, table.hash_seed);
  }
  comparison.compare(0, "[lb] verify_l4_checksum", running.verify_l4_checksum, verify_l4_checksum);
  if (workers) comparison.compare(0, "[lb] workers", running.workers, workers);
  comparison.compare(0, "[lb] gue_port", running.gue_port, gue_port);
  comparison.compare(fullnat.line, "[fullnat] addresses", running.fullnat.addresses,
                     fullnat.addresses);
  comparison.compare(fullnat.line, "[fullnat] ports",
                     std::pair(running.fullnat.first_port, running.fullnat.last_port),
                     std::pair(fullnat.first_port, fullnat.last_port));
  comparison.compare(0, "[control] socket", running.control.socket, control.socket);
  comparison.compare(0, "[control] mode", running.control.socket_mode, control.socket_mode);
  comparison.compare(0, "[control] group", running.control.socket_group, control.socket_group);
  comparison.compare(0, "[control] metrics", running.control.metrics, control.metrics);
  comparison.compare(0, "the number of [[port]]s", running.ports.size(), ports.size());
  for (size_t i = 0; i < std::min(running.ports.size(), ports.size()); ++i) {
    compare_port(running.ports[i], ports[i], comparison);
  }
  comparison.compare_lists(
      "[[neighbour]]", running.neighbours, neighbours,
      [](const NeighbourConfig& one) { return std::tuple(one.address, one.mac); });
  comparison.compare_lists("[[route]]", running.routes, routes,
                           [](const RouteConfig& one) { return std::tuple(one.prefix, one.via); });
  for (const ServiceConfig& service : services) {
    const bool is_ipv6 = service.address.is_ipv6();
    if (has_tables[is_ipv6 ? 1 : 0]) continue;
    const std::string family = is_ipv6 ? "IPv6" : "IPv4";
    comparison.fault(service.line,
                     fmt::format("[[service]] {}: the balancer began without {} services and has "
                                 "no table for {} connections; restart it",
                                 service.name, family, family));
  }
  return comparison.take();
}

}  // namespace roost::lb
