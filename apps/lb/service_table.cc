#include "apps/lb/service_table.h"

#include <algorithm>
#include <type_traits>

namespace roost::lb {

namespace {

// Room for the services of the family at a load that never refuses one.
uint64_t index_capacity(size_t service_count) { return 16 + 2 * uint64_t{service_count}; }

template <class Address>
Address address_of(const net::IpAddress& address) {
  if constexpr (std::is_same_v<Address, net::Ipv6Address>) {
    return address.ipv6();
  } else {
    return address.ipv4();
  }
}

}  // namespace

template <class Address>
Result<ServiceTable<Address>> ServiceTable<Address>::create(const Config& config,
                                                            NextHops& next_hops) {
  auto index = Index::create(
      {.capacity = index_capacity(config.services.size()), .hash_seed = config.table.hash_seed});
  if (!index) return index.error();
  ServiceTable table(std::move(index).value(), config.maglev_seed);
  for (size_t i = 0; i < config.services.size(); ++i) {
    if (config.services[i].address.is_ipv6() != Key::kIsIpv6) continue;
    if (auto error = table.add(config.services[i], i, config.maglev_seed, next_hops)) return *error;
  }
  std::ranges::sort(table.virtual_addresses_);
  std::ranges::sort(table.backend_addresses_);
  return table;
}

template <class Address>
std::optional<Error> ServiceTable<Address>::add(const ServiceConfig& service, size_t config_index,
                                                uint64_t maglev_seed, NextHops& next_hops) {
  const Endpoint virtual_endpoint{address_of<Address>(service.address), service.port};
  const auto service_index = static_cast<uint32_t>(services_.size());
  const auto first_backend = static_cast<uint32_t>(backends_.size());
  std::vector<balance::WeightedBackend> weights;
  for (const BackendConfig& backend : service.backends) {
    const node::NeighbourIndex neighbour = next_hops.pin(backend.address);
    const Endpoint endpoint{address_of<Address>(backend.address), backend.port};
    backends_.push_back({endpoint, virtual_endpoint, neighbour, service_index, backend.weight, {}});
    backend_addresses_.push_back(endpoint.address);
    weights.push_back({backend.name, backend.weight});
  }
  auto maglev = balance::Maglev::create({.backends = weights, .seed = maglev_seed});
  if (!maglev) return Error{"[[service]] " + service.name + ": " + maglev.error().message};
  virtual_addresses_.push_back(virtual_endpoint.address);
  services_.push_back({config_index, virtual_endpoint, first_backend, std::move(maglev).value()});
  const Key destination{.destination = virtual_endpoint.address,
                        .destination_port = virtual_endpoint.port,
                        .protocol = service.protocol};
  const InsertOutcome outcome = by_destination_.insert(destination, service_index);
  ROOST_ASSERT(outcome == InsertOutcome::kInserted);
  return {};
}

template <class Address>
void ServiceTable<Address>::change_weights(uint32_t service, std::span<const uint32_t> weights,
                                           balance::Maglev& maglev) {
  Service& changed = services_[service];
  ROOST_ASSERT(changed.first_backend + weights.size() <= backends_.size());
  for (size_t i = 0; i < weights.size(); ++i)
    backends_[changed.first_backend + i].weight = weights[i];
  std::swap(changed.maglev, maglev);
}

template class ServiceTable<net::Ipv4Address>;
template class ServiceTable<net::Ipv6Address>;

}  // namespace roost::lb
