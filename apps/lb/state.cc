#include "apps/lb/state.h"

#include <fmt/format.h>

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
Result<typename LocalPorts<Address>::Config> local_ports(const FullnatConfig& config,
                                                         const WorkerShare& share) {
  typename LocalPorts<Address>::Config ports{.addresses = {},
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

}  // namespace

template <class Address>
Result<std::unique_ptr<Family<Address>>> Family<Address>::create(const Config& config,
                                                                 const FamilyLayout& layout,
                                                                 NextHops& next_hops,
                                                                 const WorkerShare& share) {
  auto maglevs = make_maglevs(layout, config.maglev_seed);
  if (!maglevs) return maglevs.error();
  auto services = ServiceTable<Address>::create(
      layout, {std::move(maglevs).value(), config.maglev_seed, config.table.hash_seed});
  if (!services) return services.error();
  std::unique_ptr<Family> family(new Family(std::move(services).value()));
  family->services_.pin_neighbours(next_hops);
  auto ports = local_ports<Address>(config.fullnat, share);
  if (!ports) return ports.error();
  auto connections = ConnectionTable<Address>::create(
      {.connections = connections_wanted(config, family->services_),
       .hash_seed = config.table.hash_seed,
       .local_ports = std::move(ports).value()},
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

Result<State> State::create(const Config& config, std::span<const net::MacAddress> device_macs,
                            const WorkerShare& share) {
  auto next_hops = NextHops::create(config, device_macs);
  if (!next_hops) return next_hops.error();
  Result<Layout> layout = first_layout(config);
  if (!layout) return layout.error();
  const auto& [layout4, layout6] = layout.value().families;
  auto ipv4 = Family<net::Ipv4Address>::create(config, layout4, next_hops.value(), share);
  if (!ipv4) return ipv4.error();
  auto ipv6 = Family<net::Ipv6Address>::create(config, layout6, next_hops.value(), share);
  if (!ipv6) return ipv6.error();
  return State(config, std::move(layout).value(), std::move(next_hops).value(),
               std::move(ipv4).value(), std::move(ipv6).value());
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

const BackendCounters& State::backend_counters(size_t family, uint32_t slot) const {
  return family == 0 ? ipv4_->services().backend(slot).counters
                     : ipv6_->services().backend(slot).counters;
}

BackendCounters State::forgotten() const {
  BackendCounters sum = ipv4_->services().forgotten();
  return sum += ipv6_->services().forgotten();
}

Result<StateUpdate> StateUpdate::create(
    const Config& config, const Layout& layout,
    const std::array<std::vector<balance::Maglev>, 2>& maglevs) {
  const auto seed = config.table.hash_seed;
  auto ipv4 = ServiceTable<net::Ipv4Address>::create(layout.families[0],
                                                     {maglevs[0], config.maglev_seed, seed});
  if (!ipv4) return ipv4.error();
  auto ipv6 = ServiceTable<net::Ipv6Address>::create(layout.families[1],
                                                     {maglevs[1], config.maglev_seed, seed});
  if (!ipv6) return ipv6.error();
  return StateUpdate{.layout = layout,
                     .services = config.services,
                     .maglev_seed = config.maglev_seed,
                     .timeouts = config.timeouts,
                     .local = local_addresses(config, virtual_addresses(layout)),
                     .ipv4 = std::move(ipv4).value(),
                     .ipv6 = std::move(ipv6).value()};
}

void State::exchange(StateUpdate& update) {
  std::swap(layout_, update.layout);
  std::swap(config_.services, update.services);
  std::swap(config_.maglev_seed, update.maglev_seed);
  std::swap(config_.timeouts, update.timeouts);
  next_hops_.exchange_local(update.local);
  ipv4_->services().replace_by(update.ipv4);
  ipv6_->services().replace_by(update.ipv6);
}

template class Family<net::Ipv4Address>;
template class Family<net::Ipv6Address>;

}  // namespace roost::lb
