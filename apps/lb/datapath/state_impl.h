// Definitions of Family and BasicState, for the sources that instantiate them.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "apps/lb/datapath/state.h"
#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/conntrack/timeouts.h"

namespace roost::lb {

inline constexpr uint64_t kDatagramsMax = 4'096;
inline constexpr uint64_t kUnusedMax = 16;
inline constexpr uint16_t kWaitingFragmentsMax = 256;

// A connection that was used in the last ten seconds is not evicted once it is assured.
inline TickCount silence_ticks_min(double tick_seconds) {
  constexpr double kSeconds = 10;
  return conntrack::timeout_ticks(kSeconds, tick_seconds).value_or(kTimeoutTicksMax);
}

// An expired connection counts as live for so long. A line of the cache every dozen connections in
// five seconds is nothing beside the packets.
inline TickCount pass_ticks(double tick_seconds) {
  constexpr double kSeconds = 5;
  return conntrack::timeout_ticks(kSeconds, tick_seconds).value_or(kTimeoutTicksMax);
}

// A family without services takes no room.
template <class Address>
uint64_t connections_wanted(const Config& config, const ServiceTable<Address>& services) {
  return services.services().empty() ? 0 : config.table.connections;
}

template <class Address>
Result<typename conntrack::BindablePorts<Address>::Config> local_ports(const FullnatConfig& config,
                                                                       const WorkerShare& share) {
  typename conntrack::BindablePorts<Address>::Config ports{.addresses = {},
                                                           .first_port = config.first_port,
                                                           .last_port = config.last_port,
                                                           .worker = share.worker,
                                                           .worker_count = share.worker_count};
  for (const net::IpAddress& address : config.addresses) {
    if (const auto own = address.as<Address>()) ports.addresses.push_back(*own);
  }
  if (!ports.addresses.empty() && ports.addresses.size() < share.worker_count) {
    return Error{fmt::format(
        "[fullnat] addresses: {} of {} for {} workers; give each worker one, or let fewer work",
        ports.addresses.size(), net::FlowKey<Address>::kIsIpv6 ? "IPv6" : "IPv4",
        share.worker_count)};
  }
  return ports;
}

template <class Address, class Tables>
Result<std::unique_ptr<Family<Address, Tables>>> Family<Address, Tables>::create(
    const Config& config, const FamilyRegistry& registry, l3::NextHops& next_hops,
    const WorkerShare& share) {
  auto maglevs = make_maglevs(registry, config.maglev_seed);
  if (!maglevs) return maglevs.error();
  auto services = ServiceTable<Address>::create(
      registry, {std::move(maglevs).value(), config.maglev_seed, config.table.hash_seed});
  if (!services) return services.error();
  std::unique_ptr<Family> family(new Family(std::move(services).value()));
  family->services_.pin_neighbours(next_hops);
  auto ports = local_ports<Address>(config.fullnat, share);
  if (!ports) return ports.error();
  auto connections = ConnectionTable<Address, Tables>::create(
      {.connections = connections_wanted(config, family->services_),
       .hash_seed = config.table.hash_seed,
       .ports = std::move(ports).value(),
       .silence_ticks_min = silence_ticks_min(config.tick_seconds()),
       .pass_ticks = pass_ticks(config.tick_seconds())},
      BackendReplies<Address>(family->services_));
  if (!connections) {
    return Error{"[table] connections: " + connections.error().message};
  }
  family->connections_.emplace(std::move(connections).value());
  const bool is_used = !family->services_.services().empty();
  auto fragments = conntrack::FragmentTable<Address>::create(
      {.datagrams_max = is_used ? kDatagramsMax : kUnusedMax,
       .places = is_used ? kWaitingFragmentsMax : uint16_t{0},
       .tick_seconds = config.tick_seconds(),
       .hash_seed = config.table.hash_seed});
  if (!fragments) return fragments.error();
  family->fragments_.emplace(std::move(fragments).value());
  return family;
}

template <class Tables>
Result<BasicState<Tables>> BasicState<Tables>::create(const Config& config,
                                                      std::span<const net::MacAddress> device_macs,
                                                      const WorkerShare& share) {
  Result<BackendRegistry> registry = first_registry(config);
  if (!registry) return registry.error();
  size_t backend_count = 0;
  for (const ServiceConfig& service : config.services) backend_count += service.backends.size();
  auto next_hops =
      l3::NextHops::create({.network = config.network,
                            .device_macs = device_macs,
                            .local_addresses = balancer_addresses(config, registry.value()),
                            .pinned_count_max = backend_count,
                            .tick_seconds = config.tick_seconds(),
                            .hash_seed = config.table.hash_seed});
  if (!next_hops) return next_hops.error();
  const auto& [registry4, registry6] = registry.value().families;
  auto ipv4 = Family<net::Ipv4Address, Tables>::create(config, registry4, next_hops.value(), share);
  if (!ipv4) return ipv4.error();
  auto ipv6 = Family<net::Ipv6Address, Tables>::create(config, registry6, next_hops.value(), share);
  if (!ipv6) return ipv6.error();
  return BasicState(config, std::move(registry).value(), std::move(next_hops).value(),
                    std::move(ipv4).value(), std::move(ipv6).value());
}

template <class Tables>
void BasicState<Tables>::advance(Tick now) {
  ipv4_->connections().advance(now);
  ipv6_->connections().advance(now);
  ipv4_->fragments().advance(now);
  ipv6_->fragments().advance(now);
}

template <class Tables>
void BasicState<Tables>::maintain(uint64_t bucket_budget) {
  ipv4_->connections().maintain(bucket_budget - bucket_budget / 2);
  ipv6_->connections().maintain(bucket_budget / 2);
  ipv4_->fragments().maintain(1);
  ipv6_->fragments().maintain(1);
}

template <class Tables>
void BasicState<Tables>::settle() {
  ipv4_->connections().settle();
  ipv6_->connections().settle();
}

template <class Tables>
FlowCounts BasicState<Tables>::counts() const {
  FlowCounts counts = ipv4_->connections().counts();
  return counts += ipv6_->connections().counts();
}

template <class Tables>
uint64_t BasicState<Tables>::count_live() {
  return ipv4_->connections().count_live() + ipv6_->connections().count_live();
}

template <class Tables>
FragmentReport BasicState<Tables>::fragment_report() const {
  conntrack::FragmentCounters counters = ipv4_->fragments().counters();
  add_counters<conntrack::FragmentCounters>(conntrack::kFragmentCounters,
                                            ipv6_->fragments().counters(), counters);
  return {.counters = counters,
          .waiting = ipv4_->fragments().waiting_count() + ipv6_->fragments().waiting_count(),
          .dropped = released_dropped_};
}

template <class Tables>
bool BasicState<Tables>::audit() {
  return ipv4_->connections().audit() && ipv6_->connections().audit() &&
         next_hops_.neighbours().audit();
}

template <class Tables>
const BackendCounters& BasicState<Tables>::backend_counters(size_t family, uint32_t index) const {
  return family == 0 ? ipv4_->services().backend(index).counters
                     : ipv6_->services().backend(index).counters;
}

template <class Tables>
BackendCounters BasicState<Tables>::forgotten() const {
  BackendCounters sum = ipv4_->services().forgotten();
  return sum += ipv6_->services().forgotten();
}

template <class Tables>
void BasicState<Tables>::exchange(StateUpdate& update) {
  std::swap(registry_, update.registry);
  std::swap(config_.services, update.services);
  std::swap(config_.maglev_seed, update.maglev_seed);
  std::swap(config_.timeouts, update.timeouts);
  next_hops_.exchange_local(update.local);
  ipv4_->services().replace_by(update.ipv4);
  ipv6_->services().replace_by(update.ipv6);
  ipv4_->services().find_sides(next_hops_);
  ipv6_->services().find_sides(next_hops_);
}

}  // namespace roost::lb
