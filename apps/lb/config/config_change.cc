#include "apps/lb/config/config_change.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "roost/config/comparison.h"

namespace roost::lb {

std::vector<config::Fault> refused_changes(const Config& running, const Config& file,
                                           const std::array<bool, 2>& has_tables) {
  config::Comparison comparison("the balancer");
  // All members are named, so that a new one does not compile until it is decided whether it may
  // change.
  const auto& [tick_microseconds, maglev_seed, table, network, services, timeouts,
               verify_l4_checksum, refuses, fullnat, gue_port, control, workers, announce, state,
               text, takeover] = file;
  comparison.compare(0, "tick_seconds", running.tick_microseconds, tick_microseconds);
  comparison.compare(0, "[table] connections", running.table.connections, table.connections);
  if (table.hash_seed) {
    comparison.compare(0, "[table] hash_seed", running.table.hash_seed, table.hash_seed);
  }
  comparison.compare(0, "[lb] verify_l4_checksum", running.verify_l4_checksum, verify_l4_checksum);
  config::compare_workers(running.workers, workers, "[lb]", comparison);
  comparison.compare(0, "[lb] gue_port", running.gue_port, gue_port);
  comparison.compare(0, "[lb] state", running.state, state);
  comparison.compare(fullnat.line, "[fullnat] addresses", running.fullnat.addresses,
                     fullnat.addresses);
  comparison.compare(fullnat.line, "[fullnat] nat64_addresses", running.fullnat.nat64_addresses,
                     fullnat.nat64_addresses);
  comparison.compare(fullnat.line, "[fullnat] ports",
                     std::pair(running.fullnat.first_port, running.fullnat.last_port),
                     std::pair(fullnat.first_port, fullnat.last_port));
  config::compare_control(running.control, control, comparison);
  comparison.compare(announce ? announce->line : 0, "[announce]", running.announce, announce);
  l3::compare_network(running.network, network, comparison);
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
