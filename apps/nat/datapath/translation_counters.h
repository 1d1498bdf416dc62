// How many packets the NAT translated, and why others were dropped.
#pragma once

#include <array>
#include <cstdint>

#include "roost/base/counter.h"
#include "roost/net/drop_cause.h"

namespace roost::nat {

// What each counts: kTranslationCounters. Some are dropped afterwards, because there is no way.
struct TranslationCounters {
  uint64_t outbound = 0;
  uint64_t inbound = 0;
  uint64_t hairpinned = 0;
  uint64_t untranslated = 0;
};
inline constexpr std::array kTranslationCounters = {
    Counter{"outbound", &TranslationCounters::outbound,
            "packets from inside whose source was translated"},
    Counter{"inbound", &TranslationCounters::inbound,
            "packets whose destination was translated, hairpinned ones included"},
    Counter{"hairpinned", &TranslationCounters::hairpinned,
            "packets from inside to an external address of ours; they count as outbound and "
            "inbound, too"},
    Counter{"untranslated", &TranslationCounters::untranslated,
            "packets from inside that stay inside"}};
static_assert(lists_all(kTranslationCounters));

namespace drop_cause {

inline constexpr net::DropCause kNoMapping = net::own_drop_cause(0);
inline constexpr net::DropCause kFiltered = net::own_drop_cause(1);
inline constexpr net::DropCause kNoPort = net::own_drop_cause(2);
inline constexpr net::DropCause kHostLimit = net::own_drop_cause(3);
inline constexpr net::DropCause kNotExternal = net::own_drop_cause(4);
inline constexpr net::DropCause kIpv6 = net::own_drop_cause(5);

}  // namespace drop_cause

inline constexpr std::array kNatDropCauses = {
    net::DropCauseInfo{drop_cause::kNoMapping, "no_mapping",
                       "is for a port of an external address that nobody inside has",
                       "scans are normal; timeouts, if there are many"},
    net::DropCauseInfo{drop_cause::kFiltered, "filtered",
                       "is for a mapping, from somebody whom its host did not ask", "`filtering`"},
    net::DropCauseInfo{drop_cause::kNoPort, "no_port",
                       "needs a mapping, and all ports of its host's external address are taken",
                       "`external`, `ports`; timeouts"},
    net::DropCauseInfo{drop_cause::kHostLimit, "host_limit",
                       "needs a mapping, and its host has `ports_per_host` already",
                       "what that host does"},
    net::DropCauseInfo{drop_cause::kNotExternal, "not_external",
                       "comes from outside, and is for no external address", "routes of others"},
    net::DropCauseInfo{drop_cause::kIpv6, "ipv6", "is of IPv6, which is not routed", "`ipv6`"}};

}  // namespace roost::nat
