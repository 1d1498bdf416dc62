#include "apps/lb/datapath/state_impl.h"

namespace roost::lb {

Result<StateUpdate> StateUpdate::create(const Config& config, const BackendRegistry& registry,
                                        const std::array<std::vector<ServiceChoices>, 2>& choices) {
  const auto seed = config.table.hash_seed;
  auto ipv4 = ServiceTable<net::Ipv4Address>::create(
      registry.families[0],
      {choices[0], config.maglev_seed, seed, config.timeouts, config.refuses});
  if (!ipv4) return ipv4.error();
  auto ipv6 = ServiceTable<net::Ipv6Address>::create(
      registry.families[1],
      {choices[1], config.maglev_seed, seed, config.timeouts, config.refuses});
  if (!ipv6) return ipv6.error();
  return StateUpdate{
      .registry = registry,
      .services = config.services,
      .maglev_seed = config.maglev_seed,
      .timeouts = config.timeouts,
      .local = l3::local_addresses(config.network.ports, balancer_addresses(config, registry)),
      .ipv4 = std::move(ipv4).value(),
      .ipv6 = std::move(ipv6).value()};
}

template class Family<net::Ipv4Address>;
template class Family<net::Ipv6Address>;
template class BasicState<conntrack::OwnTables>;

}  // namespace roost::lb
