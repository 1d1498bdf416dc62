// Definitions of Family and BasicState, for the sources that instantiate them.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <utility>

#include "apps/lb/datapath/state.h"
#include "roost/conntrack/tracker_impl.h"

namespace roost::lb {

// A family without services takes no room.
template <class Address>
uint64_t connections_wanted(const Config& config, const ServiceTable<Address>& services) {
  return services.services().empty() ? 0 : config.table.connections;
}

template <class Address>
Result<typename conntrack::BindablePorts<Address>::Config> local_ports(const FullnatConfig& config,
                                                                       const WorkerShare& share) {
  typename conntrack::BindablePorts<Address>::Config ports{.addresses = {},
                                                           .second_addresses = {},
                                                           .first_port = config.first_port,
                                                           .last_port = config.last_port,
                                                           .worker = share.worker,
                                                           .worker_count = share.worker_count};
  constexpr bool kIsIpv6 = net::FlowKey<Address>::kIsIpv6;
  for (const net::IpAddress& address : config.addresses) {
    if (const auto own = address.as<Address>()) ports.addresses.push_back(*own);
  }
  if constexpr (kIsIpv6) {
    for (const net::IpAddress& address : config.nat64_addresses) {
      ports.second_addresses.push_back(net::key_address<Address>(address));
    }
  }
  const auto are_too_few = [&](const std::vector<Address>& addresses) {
    return !addresses.empty() && addresses.size() < share.worker_count;
  };
  const bool are_first_too_few = are_too_few(ports.addresses);
  if (are_first_too_few || are_too_few(ports.second_addresses)) {
    return Error{fmt::format(
        "[fullnat] {}: {} of {} for {} workers; give each worker one, or let fewer work",
        are_first_too_few ? "addresses" : "nat64_addresses",
        (are_first_too_few ? ports.addresses : ports.second_addresses).size(),
        are_first_too_few && kIsIpv6 ? "IPv6" : "IPv4", share.worker_count)};
  }
  return ports;
}

// The memory for a tracker, if there is any to lend.
template <class Address, class TrackerConfig>
std::optional<Error> lend(const WorkerShare& share, TrackerConfig& wanted) {
  if (!share.lend) return {};
  const auto bytes = Family<Address>::Tracker::bytes_to_lend(wanted);
  if (!bytes) return Error{"[table] connections: " + bytes.error().message};
  auto memory = share.lend(net::FlowKey<Address>::kIsIpv6 ? 1 : 0, bytes.value());
  if (!memory) return memory.error();
  wanted.memory = memory.value();
  return {};
}

template <class Address, class Tables>
Result<std::unique_ptr<Family<Address, Tables>>> Family<Address, Tables>::create(
    const Config& config, const FamilyRegistry& registry, l3::NextHops& next_hops,
    const WorkerShare& share, const Tables& tables) {
  auto choices = make_choices(registry, config.maglev_seed);
  if (!choices) return choices.error();
  auto services = ServiceTable<Address>::create(
      registry, {std::move(choices).value(), config.maglev_seed, config.table.hash_seed,
                 config.timeouts, config.refuses});
  if (!services) return services.error();
  std::unique_ptr<Family> family(new Family(std::move(services).value()));
  family->services_.pin_neighbours(next_hops);
  auto ports = local_ports<Address>(config.fullnat, share);
  if (!ports) return ports.error();
  typename Tracker::Config wanted{.connections = connections_wanted(config, family->services_),
                                  .has_other_fragments = !net::FlowKey<Address>::kIsIpv6 &&
                                                         !config.fullnat.nat64_addresses.empty(),
                                  .tick_seconds = config.tick_seconds(),
                                  .hash_seed = config.table.hash_seed,
                                  .ports = std::move(ports).value()};
  if constexpr (std::same_as<Tables, conntrack::OwnTables>) {
    if (auto error = lend<Address>(share, wanted)) return *error;
  }
  auto tracker = Tracker::create(wanted, BackendReplies<Address>(family->services_), tables);
  if (!tracker) return Error{"[table] connections: " + tracker.error().message};
  family->tracker_.emplace(std::move(tracker).value());
  return family;
}

template <class Address, class Tables>
bool Family<Address, Tables>::has_backends() {
  return connections().has_owners([this](uint32_t i) { return services_.has_backend(i); });
}

template <class Address, class Tables>
bool Family<Address, Tables>::is_readable()
  requires std::same_as<Tables, conntrack::OwnTables>
{
  return connections().is_readable([this](uint32_t i) { return services_.has_backend(i); });
}

template <class Address, class Tables>
void Family<Address, Tables>::adopt() {
  connections().adopt([this](Connection& connection) {
    connection.client_neighbour = l3::kNoNeighbour;
    ++services_.backend(connection.owner).counters.flows;
  });
  services_.count_adopted_over();
}

template <class Tables>
Result<BasicState<Tables>> BasicState<Tables>::create(const Config& config,
                                                      std::span<const net::MacAddress> device_macs,
                                                      const WorkerShare& share,
                                                      const Tables& tables) {
  Result<BackendRegistry> registry =
      share.registry == nullptr ? first_registry(config) : Result<BackendRegistry>(*share.registry);
  if (!registry) return registry.error();
  size_t backend_count = 0;
  for (const FamilyRegistry& family : registry.value().families) {
    backend_count += family.backends.size();
  }
  auto next_hops =
      l3::NextHops::create({.network = config.network,
                            .device_macs = device_macs,
                            .local_addresses = balancer_addresses(config, registry.value()),
                            .pinned_count_max = backend_count,
                            .tick_seconds = config.tick_seconds(),
                            .hash_seed = config.table.hash_seed});
  if (!next_hops) return next_hops.error();
  const auto& [registry4, registry6] = registry.value().families;
  auto ipv4 =
      Family<net::Ipv4Address, Tables>::create(config, registry4, next_hops.value(), share, tables);
  if (!ipv4) return ipv4.error();
  auto ipv6 =
      Family<net::Ipv6Address, Tables>::create(config, registry6, next_hops.value(), share, tables);
  if (!ipv6) return ipv6.error();
  return BasicState(config, std::move(registry).value(), std::move(next_hops).value(),
                    std::move(ipv4).value(), std::move(ipv6).value());
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
