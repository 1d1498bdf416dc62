// Everything the firewall knows while it runs: its rules, its connections, and where packets go.
// Used by one worker; the table of routes is all workers'.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "apps/firewall/config/config.h"
#include "apps/firewall/datapath/filter_counters.h"
#include "roost/acl/decision_log.h"
#include "roost/acl/rule_set.h"
#include "roost/base/result.h"
#include "roost/conntrack/tracker.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/l3/refusals.h"
#include "roost/routing/routing_table.h"

namespace roost::firewall {

template <class Address>
using Family = conntrack::FamilyTracker<conntrack::SameEnds<Address>>;

class State {
 public:
  // Errors: memory is unavailable, rules with more masks than a classifier may have.
  static Result<State> create(const Config& config, std::span<const net::MacAddress> device_macs);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] l3::NextHops& next_hops() { return next_hops_; }
  [[nodiscard]] routing::WorkerRoutes& routes() { return routes_; }
  [[nodiscard]] const routing::WorkerRoutes& routes() const { return routes_; }
  [[nodiscard]] l3::IcmpErrorCounters& icmp_errors() { return icmp_errors_; }
  [[nodiscard]] l3::LocalCounters& local_counters() { return local_counters_; }
  [[nodiscard]] l3::ResetCounters& resets() { return resets_; }
  [[nodiscard]] FilterCounters& filter_counters() { return filter_counters_; }
  [[nodiscard]] acl::DecisionLog& log() { return log_; }
  [[nodiscard]] acl::RuleSet& rules() { return *rules_; }
  [[nodiscard]] const conntrack::StateTimeouts& timeouts() const { return config_.timeouts; }
  [[nodiscard]] bool picks_up() const { return config_.picks_up; }

  // Other rules and timeouts are in force from now on; `rules` has what they were.
  void exchange(std::unique_ptr<acl::RuleSet>& rules, const conntrack::StateTimeouts& timeouts,
                bool picks_up) {
    std::swap(rules_, rules);
    config_.timeouts = timeouts;
    config_.picks_up = picks_up;
  }

  template <class Address>
  [[nodiscard]] Family<Address>& family() {
    if constexpr (net::FlowKey<Address>::kIsIpv6) {
      return ipv6_;
    } else {
      return ipv4_;
    }
  }
  [[nodiscard]] conntrack::Tracker<Family<net::Ipv4Address>, Family<net::Ipv6Address>> tracker() {
    return {ipv4_, ipv6_};
  }

  // The port by which packets for an address leave that came by another.
  template <class Address>
  [[nodiscard]] std::optional<uint16_t> out_port_of(const Address& destination,
                                                    uint16_t in_port) const {
    if (config_.is_wire) return in_port == 0 ? uint16_t{1} : uint16_t{0};
    if (routes_.table == nullptr) return {};
    return routes_.table->out_port_of(destination);
  }

 private:
  State(const Config& config, l3::NextHops next_hops, std::unique_ptr<acl::RuleSet> rules,
        Family<net::Ipv4Address> ipv4, Family<net::Ipv6Address> ipv6);

  Config config_;
  l3::NextHops next_hops_;
  routing::WorkerRoutes routes_;
  std::unique_ptr<acl::RuleSet> rules_;
  Family<net::Ipv4Address> ipv4_;
  Family<net::Ipv6Address> ipv6_;
  acl::DecisionLog log_;
  FilterCounters filter_counters_{};
  l3::IcmpErrorCounters icmp_errors_{};
  l3::LocalCounters local_counters_{};
  l3::ResetCounters resets_{};
};

}  // namespace roost::firewall
