// The definition of FamilyTracker::create, for the sources that instantiate it.
#pragma once

#include <concepts>

#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/conntrack/timeouts.h"
#include "roost/conntrack/tracker.h"

namespace roost::conntrack {

// A connection that was used in the last ten seconds is not evicted once it is assured.
inline TickCount silence_ticks_min(double tick_seconds) {
  constexpr double kSeconds = 10;
  return timeout_ticks(kSeconds, tick_seconds).value_or(kTimeoutTicksMax);
}

// An expired connection counts as live for so long. A line of the cache every dozen connections in
// five seconds is nothing beside the packets.
inline TickCount pass_ticks(double tick_seconds) {
  constexpr double kSeconds = 5;
  return timeout_ticks(kSeconds, tick_seconds).value_or(kTimeoutTicksMax);
}

template <class Rule, class Tables>
typename FamilyTracker<Rule, Tables>::Connections::Config
FamilyTracker<Rule, Tables>::connections_config(const Config& config) {
  return {.connections = config.connections,
          .hash_seed = config.hash_seed,
          .ports = config.ports,
          .silence_ticks_min = silence_ticks_min(config.tick_seconds),
          .pass_ticks = pass_ticks(config.tick_seconds),
          .memory = config.memory};
}

template <class Rule, class Tables>
typename FamilyTracker<Rule, Tables>::Fragments::Config
FamilyTracker<Rule, Tables>::fragments_config(const Config& config) {
  constexpr uint64_t kDatagramsMax = 4'096;
  constexpr uint64_t kUnusedMax = 16;
  const bool is_used = config.connections != 0 || config.has_other_fragments;
  return {.datagrams_max = is_used ? kDatagramsMax : kUnusedMax,
          .places = is_used ? config.waiting_fragments : uint16_t{0},
          .tick_seconds = config.tick_seconds,
          .hash_seed = config.hash_seed};
}

template <class Rule, class Tables>
Result<FamilyTracker<Rule, Tables>> FamilyTracker<Rule, Tables>::create(const Config& config,
                                                                        Rule rule,
                                                                        const Tables& tables) {
  auto connections = Connections::create(connections_config(config), std::move(rule), tables);
  if (!connections) return connections.error();
  auto fragments = Fragments::create(fragments_config(config));
  if (!fragments) return fragments.error();
  return FamilyTracker(std::move(connections).value(), std::move(fragments).value());
}

template <class Rule, class Tables>
Result<uint64_t> FamilyTracker<Rule, Tables>::bytes_for(const Config& config)
  requires std::same_as<Tables, OwnTables>
{
  Result<uint64_t> connections = Connections::bytes_for(connections_config(config));
  if (!connections) return connections;
  Result<uint64_t> fragments = Fragments::bytes_for(fragments_config(config));
  if (!fragments) return fragments;
  return connections.value() + fragments.value();
}

}  // namespace roost::conntrack
