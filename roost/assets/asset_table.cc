#include "roost/assets/asset_table.h"

#include <algorithm>

namespace roost::assets {

Result<AssetTable> AssetTable::create(const Config& config) {
  auto hosts = SeenList<HostKey, HostFacts>::create(config.hosts_max, config.hash_seed);
  if (!hosts) return hosts.error();
  auto memory = Arena::map(uint64_t{config.hosts_max} * config.services_max * sizeof(Service));
  if (!memory) return memory.error();
  return AssetTable(std::move(hosts).value(), std::move(memory).value(), config);
}

SeenList<HostKey, HostFacts>::Seen AssetTable::see(const HostKey& key, Tick now) {
  const auto seen = hosts_.see(key, now, [this](uint32_t, const Host& host) {
    ++counters_.hosts_evicted;
    counters_.services_left += host.value.service_count;
  });
  counters_.hosts_found += seen.is_new ? 1U : 0U;
  return seen;
}

bool AssetTable::see_service(uint32_t place, net::IpProtocol protocol, uint16_t port, Tick now) {
  uint16_t& count = hosts_.at(place).value.service_count;
  const std::span all(&services_[size_t{place} * services_max_], services_max_);
  const auto end = all.begin() + count;
  auto found = std::find_if(all.begin(), end, [&](const Service& one) {
    return one.protocol == protocol && one.port == port;
  });
  const bool is_new = found == end;
  if (is_new) {
    ++counters_.services_found;
    if (count == services_max_) {
      ++counters_.services_evicted;
      --found;
    } else {
      ++count;
    }
    *found = {.protocol = protocol, .port = port, .first = now};
  }
  found->last = now;
  std::rotate(all.begin(), found, found + 1);
  return is_new;
}

std::span<const Service> AssetTable::services(const Host& host) const {
  return std::span(services_).subspan(size_t{hosts_.place_of(host)} * services_max_,
                                      host.value.service_count);
}

uint64_t AssetTable::count_services() const {
  uint64_t count = 0;
  for (const Host& host : hosts()) count += host.value.service_count;
  return count;
}

bool AssetTable::audit() {
  if (!hosts_.audit()) return false;
  for (const Host& host : hosts()) {
    const std::span<const Service> all = services(host);
    if (!std::ranges::is_sorted(all, std::ranges::greater{}, &Service::last)) return false;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < i; ++j)
        if (all[i].protocol == all[j].protocol && all[i].port == all[j].port) return false;
    }
  }
  return counters_.hosts_found == counters_.hosts_evicted + hosts().size() &&
         counters_.services_found ==
             counters_.services_evicted + counters_.services_left + count_services();
}

}  // namespace roost::assets
