// What the filter counts, and the causes for which the firewall drops packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "roost/base/counter.h"
#include "roost/net/drop_cause.h"
#include "roost/routing/forwarder.h"

namespace roost::firewall {

// What each counts: kFilterCounters.
struct FilterCounters {
  uint64_t established = 0;
  uint64_t related = 0;
  uint64_t begun = 0;
  uint64_t without_connection = 0;
  uint64_t link = 0;
};

inline constexpr std::array kFilterCounters = {
    Counter{"established", &FilterCounters::established, "packets of connections that were there"},
    Counter{"related", &FilterCounters::related, "ICMP errors about packets of connections"},
    Counter{"begun", &FilterCounters::begun,
            "packets that rules allowed and that began connections"},
    Counter{"without_connection", &FilterCounters::without_connection,
            "packets that rules allowed and that have no connection"},
    Counter{"link", &FilterCounters::link,
            "frames of a wire that are not filtered: ARP, neighbour and multicast listener "
            "discovery, and other EtherTypes if they pass"}};
static_assert(lists_all(kFilterCounters));

namespace drop_cause {
inline constexpr net::DropCause kDenied = net::own_drop_cause(0);
inline constexpr net::DropCause kRejected = net::own_drop_cause(1);
}  // namespace drop_cause

// In the order of reports: what the router has, and then these.
inline constexpr std::array kFirewallDropCauses = [] {
  constexpr std::array kOwn = {
      net::drop_cause_info(net::DropCause::kFragmentOverlap),
      net::drop_cause_info(net::DropCause::kFragmentTableFull),
      net::drop_cause_info(net::DropCause::kNoFlow),
      net::drop_cause_info(net::DropCause::kIcmpNoFlow),
      net::drop_cause_info(net::DropCause::kTableFull),
      net::drop_cause_info(net::DropCause::kHandoffFull),
      net::DropCauseInfo{drop_cause::kDenied, "denied", "is denied by a rule, or allowed by none",
                         "`ctl rules`, `ctl trace`"},
      net::DropCauseInfo{drop_cause::kRejected, "rejected",
                         "is rejected: its sender is told, if the rules of the protocols allow it",
                         "`ctl rules`, `ctl trace`"}};
  std::array<net::DropCauseInfo, routing::kForwarderDropCauses.size() + kOwn.size()> all{};
  std::ranges::copy(kOwn, std::ranges::copy(routing::kForwarderDropCauses, all.begin()).out);
  return all;
}();

}  // namespace roost::firewall
