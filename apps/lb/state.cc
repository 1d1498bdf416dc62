#include "apps/lb/state.h"

#include <utility>

namespace roost::lb {

namespace {

constexpr uint64_t kDatagramsMax = 4'096;
constexpr uint64_t kUnusedMax = 16;
constexpr uint16_t kWaitingFragmentsMax = 256;

// A family without services takes no room.
template <class Address>
uint64_t connections_wanted(const Config& config, const ServiceTable<Address>& services) {
  return services.services().empty() ? 0 : config.table.connections;
}

template <class Address>
const BackendCounters* find_counters(const ServiceTable<Address>& services, size_t service_index,
                                     size_t backend_index) {
  for (const auto& service : services.services()) {
    if (service.config_index != service_index) continue;
    return &services.backend(service.first_backend + static_cast<uint32_t>(backend_index)).counters;
  }
  return nullptr;
}

}  // namespace

template <class Address>
Result<std::unique_ptr<Family<Address>>> Family<Address>::create(const Config& config,
                                                                 NextHops& next_hops) {
  auto services = ServiceTable<Address>::create(config, next_hops);
  if (!services) return services.error();
  std::unique_ptr<Family> family(new Family(std::move(services).value()));
  auto connections = ConnectionTable<Address>::create(
      {.connections = connections_wanted(config, family->services_),
       .hash_seed = config.table.hash_seed},
      family->services_);
  if (!connections) {
    return Error{"[table] connections: " + connections.error().message};
  }
  family->connections_.emplace(std::move(connections).value());
  const bool is_used = !family->services_.services().empty();
  auto fragments =
      FragmentTable<Address>::create({.datagrams_max = is_used ? kDatagramsMax : kUnusedMax,
                                      .places = is_used ? kWaitingFragmentsMax : uint16_t{0},
                                      .tick_seconds = config.tick_seconds(),
                                      .hash_seed = config.table.hash_seed});
  if (!fragments) return fragments.error();
  family->fragments_.emplace(std::move(fragments).value());
  return family;
}

Result<State> State::create(const Config& config, std::span<const net::MacAddress> device_macs) {
  auto next_hops = NextHops::create(config, device_macs);
  if (!next_hops) return next_hops.error();
  auto ipv4 = Family<net::Ipv4Address>::create(config, next_hops.value());
  if (!ipv4) return ipv4.error();
  auto ipv6 = Family<net::Ipv6Address>::create(config, next_hops.value());
  if (!ipv6) return ipv6.error();
  return State(config, std::move(next_hops).value(), std::move(ipv4).value(),
               std::move(ipv6).value());
}

void State::advance(Tick now) {
  ipv4_->connections().advance(now);
  ipv6_->connections().advance(now);
  ipv4_->fragments().advance(now);
  ipv6_->fragments().advance(now);
}

void State::maintain(uint64_t bucket_budget) {
  ipv4_->connections().maintain(bucket_budget - bucket_budget / 2);
  ipv6_->connections().maintain(bucket_budget / 2);
  ipv4_->fragments().maintain(1);
  ipv6_->fragments().maintain(1);
}

void State::settle() {
  ipv4_->connections().settle();
  ipv6_->connections().settle();
}

FlowCounts State::counts() const {
  FlowCounts counts = ipv4_->connections().counts();
  return counts += ipv6_->connections().counts();
}

uint64_t State::count_live() {
  return ipv4_->connections().count_live() + ipv6_->connections().count_live();
}

FragmentReport State::fragment_report() const {
  const FragmentCounters& a = ipv4_->fragments().counters();
  const FragmentCounters& b = ipv6_->fragments().counters();
  return {.counters = {a.followed + b.followed, a.waited + b.waited, a.released + b.released,
                       a.expired + b.expired},
          .waiting = ipv4_->fragments().waiting_count() + ipv6_->fragments().waiting_count(),
          .dropped = released_dropped_};
}

bool State::audit() {
  return ipv4_->connections().audit() && ipv6_->connections().audit() &&
         next_hops_.neighbours().audit();
}

BackendCounters State::backend_counters(size_t service_index, size_t backend_index) const {
  if (const auto* found = find_counters(ipv4_->services(), service_index, backend_index)) {
    return *found;
  }
  const auto* found = find_counters(ipv6_->services(), service_index, backend_index);
  ROOST_ASSERT(found != nullptr);
  return *found;
}

template class Family<net::Ipv4Address>;
template class Family<net::Ipv6Address>;

}  // namespace roost::lb
