#include "apps/firewall/datapath/state.h"

#include "roost/conntrack/tracker_impl.h"

template class roost::conntrack::ConnectionTable<
    roost::conntrack::SameEnds<roost::net::Ipv4Address>>;
template class roost::conntrack::ConnectionTable<
    roost::conntrack::SameEnds<roost::net::Ipv6Address>>;
template class roost::conntrack::FragmentTable<roost::net::Ipv4Address>;
template class roost::conntrack::FragmentTable<roost::net::Ipv6Address>;

namespace roost::firewall {

namespace {

template <class Address>
Result<Family<Address>> make_family(const Config& config) {
  return Family<Address>::create({.connections = config.connections,
                                  .has_other_fragments = true,
                                  .tick_seconds = config.tick_seconds(),
                                  .hash_seed = config.hash_seed},
                                 {});
}

}  // namespace

Result<State> State::create(const Config& config, std::span<const net::MacAddress> device_macs) {
  auto next_hops = routing::make_next_hops(config, device_macs);
  if (!next_hops) return next_hops.error();
  auto rules = acl::RuleSet::create(rules_by_place(config), config.hash_seed);
  if (!rules) return rules.error();
  auto ipv4 = make_family<net::Ipv4Address>(config);
  if (!ipv4) return ipv4.error();
  auto ipv6 = make_family<net::Ipv6Address>(config);
  if (!ipv6) return ipv6.error();
  return State(config, std::move(next_hops).value(), std::move(rules).value(),
               std::move(ipv4).value(), std::move(ipv6).value());
}

State::State(const Config& config, l3::NextHops next_hops, std::unique_ptr<acl::RuleSet> rules,
             Family<net::Ipv4Address> ipv4, Family<net::Ipv6Address> ipv6)
    : config_(config),
      next_hops_(std::move(next_hops)),
      routes_(routing::WorkerRoutes::of(config.table)),
      rules_(std::move(rules)),
      ipv4_(std::move(ipv4)),
      ipv6_(std::move(ipv6)),
      log_(config.log_per_second, config.tick_seconds()) {}

}  // namespace roost::firewall
