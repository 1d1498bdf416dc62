#include "apps/lb/service_table.h"

#include <algorithm>
#include <type_traits>

namespace roost::lb {

namespace {

// Room for the services of the family at a load that never refuses one.
uint64_t index_capacity(size_t service_count) { return 16 + 2 * uint64_t{service_count}; }

}  // namespace

template <class Address>
Result<ServiceTable<Address>> ServiceTable<Address>::create(const FamilyLayout& layout,
                                                            Config config) {
  auto index = Index::create(
      {.capacity = index_capacity(layout.services.size()), .hash_seed = config.hash_seed});
  if (!index) return index.error();
  ServiceTable table(std::move(index).value(), config.maglev_seed);
  for (uint32_t i = 0; i < layout.services.size(); ++i) {
    const ServiceSlot& slot = layout.services[i];
    Service service{{}, slot.backends, std::move(config.maglevs[i])};
    if (slot.use != SlotUse::kFree) {
      service.virtual_endpoint = {slot.address.as<Address>().value(), slot.port};
      table.virtual_addresses_.push_back(service.virtual_endpoint.address);
    }
    if (slot.use == SlotUse::kConfigured) {
      const Key destination{.destination = service.virtual_endpoint.address,
                            .destination_port = slot.port,
                            .protocol = slot.protocol};
      const InsertOutcome outcome = table.by_destination_.insert(destination, i);
      ROOST_ASSERT(outcome == InsertOutcome::kInserted);
    }
    table.services_.push_back(std::move(service));
  }
  for (const BackendSlot& slot : layout.backends) {
    Backend backend;
    if (slot.use != SlotUse::kFree) {
      backend.endpoint = {slot.address.as<Address>().value(), slot.port};
      backend.virtual_endpoint = table.services_[slot.service].virtual_endpoint;
      backend.service = slot.service;
      backend.weight = slot.weight;
      backend.mode = layout.services[slot.service].mode;
      table.backend_addresses_.push_back(backend.endpoint.address);
    }
    table.backends_.push_back(backend);
    table.is_kept_.push_back(slot.use != SlotUse::kFree && !slot.is_new);
  }
  std::ranges::sort(table.virtual_addresses_);
  std::ranges::sort(table.backend_addresses_);
  return table;
}

template <class Address>
void ServiceTable<Address>::pin_neighbours(NextHops& next_hops) {
  for (Backend& backend : backends_) backend.neighbour = next_hops.pin(backend.endpoint.address);
}

template <class Address>
void ServiceTable<Address>::replace_by(ServiceTable& next) {
  ROOST_ASSERT(next.backends_.size() >= backends_.size());
  next.forgotten_ = forgotten_;
  for (size_t i = 0; i < backends_.size(); ++i) {
    if (next.is_kept_[i]) {
      next.backends_[i].counters = backends_[i].counters;
      next.backends_[i].neighbour = backends_[i].neighbour;
      next.backends_[i].local_port_turn = backends_[i].local_port_turn;
    } else {
      next.forgotten_ += backends_[i].counters;
    }
  }
  std::swap(*this, next);
}

template <class Address>
void ServiceTable<Address>::change_weights(uint32_t service, std::span<const uint32_t> weights,
                                           balance::Maglev& maglev) {
  Service& changed = services_[service];
  ROOST_ASSERT(changed.backends.size() == weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    backends_[changed.backends[i]].weight = weights[i];
  }
  std::swap(changed.maglev, maglev);
}

template class ServiceTable<net::Ipv4Address>;
template class ServiceTable<net::Ipv6Address>;

}  // namespace roost::lb
