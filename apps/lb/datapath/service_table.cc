#include "apps/lb/datapath/service_table.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "roost/conntrack/timeouts.h"
#include "roost/hash/random_seed.h"

namespace roost::lb {

namespace {

// Room for so many services or backends at a load that never refuses one.
uint64_t index_capacity(size_t count) { return 16 + 2 * uint64_t{count}; }

}  // namespace

template <class Address>
Result<ServiceTable<Address>> ServiceTable<Address>::create(const FamilyRegistry& registry,
                                                            Config config) {
  auto index = Index::create(
      {.capacity = index_capacity(registry.services.size()), .hash_seed = config.hash_seed});
  if (!index) return index.error();
  auto by_source = Index::create(
      {.capacity = index_capacity(registry.backends.size()), .hash_seed = config.hash_seed});
  if (!by_source) return by_source.error();
  ServiceTable table(std::move(index).value(), std::move(by_source).value(), config.maglev_seed);
  table.refuses_closed_ports_ = config.refuses_closed_ports;
  const auto timeouts = table.place_timeouts(registry, config.timeouts);
  if (!timeouts) return timeouts.error();
  for (uint32_t i = 0; i < registry.services.size(); ++i) {
    const RegisteredService& registered = registry.services[i];
    Service service{{},
                    registered.backends,
                    std::move(config.choices[i]),
                    registered.algorithm,
                    registered.mode,
                    registered.is_one_packet,
                    registered.refuses};
    if (registered.use != Registration::kFree) {
      service.virtual_endpoint = {registered.address.to<Address>(), registered.ports.first};
      table.virtual_addresses_.push_back(service.virtual_endpoint.address);
    }
    table.services_.push_back(std::move(service));
  }
  for (const RegisteredBackend& registered : registry.backends) {
    Backend backend;
    if (registered.use != Registration::kFree) {
      const RegisteredService& service = registry.services[registered.service];
      backend.endpoint = {net::key_address<Address>(registered.address), registered.port};
      backend.is_ipv4 = Key::kIsIpv6 && !registered.address.is_ipv6();
      backend.virtual_endpoint = table.services_[registered.service].virtual_endpoint;
      backend.service = registered.service;
      backend.weight = static_cast<uint16_t>(registered.weight);
      backend.timeouts = timeouts.value()[registered.service];
      backend.mode = service.mode;
      backend.sends_proxy_header = service.sends_proxy_header;
      // Not where the last run began: its backends may know those ports still.
      const bool is_bound = backend.mode == Mode::kFullnat;
      backend.local_port_turn = is_bound ? static_cast<uint32_t>(random_seed()) : 0;
      table.backend_addresses_.push_back(backend.endpoint.address);
    }
    table.backends_.push_back(backend);
    table.is_kept_.push_back(registered.use != Registration::kFree && !registered.is_new);
  }
  table.place_ports(registry);
  std::ranges::sort(table.virtual_addresses_);
  std::ranges::sort(table.backend_addresses_);
  return table;
}

template <class Address>
Result<std::vector<uint16_t>> ServiceTable<Address>::place_timeouts(
    const FamilyRegistry& registry, const conntrack::StateTimeouts& others) {
  std::map<conntrack::StateTimeouts, size_t> places;
  places.emplace(given_timeouts_.emplace_back(), 0);
  std::vector<uint16_t> by_service;
  for (const RegisteredService& service : registry.services) {
    const auto [place, is_new] = places.emplace(service.timeouts, given_timeouts_.size());
    if (is_new) given_timeouts_.push_back(service.timeouts);
    by_service.push_back(static_cast<uint16_t>(place->second));
  }
  if (given_timeouts_.size() > size_t{UINT16_MAX} + 1) {
    return Error{"[service.timeouts]: more than 65,535 different ones; give services the same"};
  }
  timeouts_.resize(given_timeouts_.size());
  set_timeouts(others);
  return by_service;
}

template <class Address>
void ServiceTable<Address>::set_timeouts(const conntrack::StateTimeouts& timeouts) {
  for (size_t place = 0; place < timeouts_.size(); ++place) {
    timeouts_[place] = conntrack::completed(given_timeouts_[place], timeouts);
  }
}

template <class Address>
void ServiceTable<Address>::place_ports(const FamilyRegistry& registry) {
  using Place = std::pair<Address, net::IpProtocol>;
  std::map<Place, std::vector<PortSpan>> services;
  bool has_ranges = false;
  for (uint32_t i = 0; i < registry.services.size(); ++i) {
    const RegisteredService& service = registry.services[i];
    if (service.use != Registration::kConfigured) continue;
    services[{service.address.to<Address>(), service.protocol}].push_back({service.ports, i});
    has_ranges |= !service.ports.is_one();
  }
  for (const auto& [place, all] : services) {
    for (const PortSpan& span : most_specific(all)) {
      const auto& [address, protocol] = place;
      if (registry.services[span.service].ports.is_one()) {
        const Key destination{
            .destination = address, .destination_port = span.ports.first, .protocol = protocol};
        const InsertOutcome outcome = by_destination_.insert(destination, span.service);
        ROOST_ASSERT(outcome == InsertOutcome::kInserted);
      } else {
        destination_spans_.add(address, protocol, span.ports, span.service);
      }
      note_sources(registry, span);
    }
  }
  destination_spans_.seal();
  source_spans_.seal();
  for (const auto& [place, all] : services) {
    for (const PortSpan& span : all) note_single_sources(registry, span.service);
  }
  if (!has_ranges) source_spans_ = {};  // all of it is in the table
}

// What backends of mode `nat` send from these ports of their service.
template <class Address>
void ServiceTable<Address>::note_sources(const FamilyRegistry& registry, const PortSpan& span) {
  const RegisteredService& service = registry.services[span.service];
  if (service.mode != Mode::kNat) return;
  for (const uint32_t index : service.backends) {
    const RegisteredBackend& backend = registry.backends[index];
    const PortMove move{.from = service.ports.first, .to = backend.port};
    source_spans_.add(net::key_address<Address>(backend.address), service.protocol,
                      span.ports.moved(move), index);
  }
}

template <class Address>
void ServiceTable<Address>::note_single_sources(const FamilyRegistry& registry, uint32_t index) {
  const RegisteredService& service = registry.services[index];
  if (service.mode != Mode::kNat || !service.ports.is_one()) return;
  for (const uint32_t backend_index : service.backends) {
    const RegisteredBackend& backend = registry.backends[backend_index];
    const Key source{.source = net::key_address<Address>(backend.address),
                     .source_port = backend.port,
                     .protocol = service.protocol};
    const auto owner = source_spans_.find(source.source, source.protocol, source.source_port);
    const InsertOutcome outcome = by_source_.insert(source, owner.value_or(kAmbiguous));
    ROOST_ASSERT(outcome != InsertOutcome::kFull);
  }
}

template <class Address>
void ServiceTable<Address>::pin_neighbours(l3::NextHops& next_hops) {
  for (Backend& backend : backends_) {
    if (backend.endpoint.port == 0) continue;
    backend.neighbour = next_hops.pin(net::address_of_key(backend.endpoint.address));
  }
  find_sides(next_hops);
}

template <class Address>
void ServiceTable<Address>::find_sides(l3::NextHops& next_hops) {
  for (Backend& backend : backends_) {
    if (backend.side != kNoSide || backend.endpoint.port == 0) continue;
    const net::IpAddress address = net::address_of_key(backend.endpoint.address);
    backend.side = next_hops.port_towards(address).value_or(kNoSide);
  }
}

template <class Address>
std::optional<uint32_t> ServiceTable<Address>::other_backend(uint32_t service, const Key& key,
                                                             size_t picked) const {
  const std::vector<uint32_t>& all = services_[service].backends;
  for (size_t i = 1; i < all.size(); ++i) {
    const uint32_t backend = all[(picked + i) % all.size()];
    const Backend& other = backends_[backend];
    if (other.weight != 0 && other.endpoint.address != key.source) return backend;
  }
  const bool may_be_itself = backends_[all[picked]].mode == Mode::kFullnat;
  return may_be_itself ? std::optional(all[picked]) : std::nullopt;
}

template <class Address>
void ServiceTable<Address>::replace_by(ServiceTable& next) {
  ROOST_ASSERT(next.backends_.size() >= backends_.size());
  next.forgotten_ = forgotten_;
  for (size_t i = 0; i < backends_.size(); ++i) {
    if (next.is_kept_[i]) {
      next.backends_[i].counters = backends_[i].counters;
      next.backends_[i].neighbour = backends_[i].neighbour;
      next.backends_[i].side = backends_[i].side;
      next.backends_[i].local_port_turn = backends_[i].local_port_turn;
    } else {
      next.forgotten_ += backends_[i].counters;
    }
  }
  std::swap(*this, next);
}

template <class Address>
void ServiceTable<Address>::change_weights(uint32_t service, std::span<const uint32_t> weights,
                                           BackendChoice& choice) {
  Service& changed = services_[service];
  ROOST_ASSERT(changed.backends.size() == weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    backends_[changed.backends[i]].weight = static_cast<uint16_t>(weights[i]);
  }
  std::swap(changed.choices.in_force, choice);
  // The first change since the configuration was read: what was in force is what is configured.
  if (is_by_hash(service) && !changed.choices.undrained) {
    changed.choices.undrained.emplace(std::move(choice));
  }
}

template class ServiceTable<net::Ipv4Address>;
template class ServiceTable<net::Ipv6Address>;

}  // namespace roost::lb
