// Definitions of BasicState, for the sources that instantiate it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "apps/nat/datapath/state.h"
#include "roost/conntrack/tracker_impl.h"
#include "roost/control/static_mappings.h"

namespace roost::nat {

inline conntrack::PortMappings::Config mappings_config(const Config& config,
                                                       const node::WorkerSeat& seat) {
  return {.address_count = config.external.size(),
          .worker = seat.worker,
          .worker_count = seat.worker_count,
          .first_port = config.first_port,
          .last_port = config.last_port,
          .ports_per_host = config.ports_per_host,
          .mappings_max = config.connections,
          .static_max = 2 * Config::kForwardsMax,  // those of before and after a reload
          .hash_seed = config.hash_seed};
}

template <class Tables>
Result<BasicState<Tables>> BasicState<Tables>::create(const Config& config,
                                                      const node::WorkerSeat& seat,
                                                      const Tables& tables) {
  auto next_hops = routing::make_next_hops(config, seat.device_macs,
                                           {config.external.begin(), config.external.end()});
  auto mappings = conntrack::PortMappings::create(mappings_config(config, seat));
  auto peers = conntrack::PeerCounts::create(
      config.filtering == Filtering::kAddress ? config.connections : 0, config.hash_seed);
  if (!next_hops) return next_hops.error();
  if (!mappings) return mappings.error();
  if (!peers) return peers.error();
  auto held = std::make_unique<Held>(
      Held{conntrack::ExternalAddresses(config.external, seat.worker_count, config.forwards),
           std::move(mappings).value(), std::move(peers).value()});
  control::begin_static_mappings(config.forwards, seat.worker, *held);
  auto tracker = Tracker::create({.connections = config.connections,
                                  .tick_seconds = config.tick_seconds(),
                                  .hash_seed = config.hash_seed},
                                 conntrack::MappedEnds(*held), tables);
  if (!tracker) return tracker.error();
  return BasicState(config, seat.worker, std::move(next_hops).value(), std::move(held),
                    std::move(tracker).value());
}

template <class Tables>
bool BasicState<Tables>::audit() {
  uint64_t holders = 0;
  uint64_t place = 0;
  held_->mappings.walk(place, UINT64_MAX, [&](const auto& mapping) { holders += mapping.holders; });
  return held_->mappings.audit() && tracker_.connections().audit() &&
         holders == tracker_.connections().size();
}

}  // namespace roost::nat
