// Counters of packets that call for an ICMP error.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "roost/base/counter.h"

namespace roost::l3 {

// What each counts: kIcmpErrorCounters.
struct IcmpErrorCounters {
  uint64_t too_big = 0;
  uint64_t time_exceeded = 0;
  uint64_t unreachable = 0;
  uint64_t limited = 0;
  uint64_t unsendable = 0;
};

inline constexpr std::array kIcmpErrorCounters = {
    Counter{"too_big", &IcmpErrorCounters::too_big,
            "errors sent because a packet exceeds the MTU of its way"}
        .with_text("too big"),
    Counter{"time_exceeded", &IcmpErrorCounters::time_exceeded,
            "errors sent because a packet's hops are used up"}
        .with_text("time exceeded"),
    Counter{"unreachable", &IcmpErrorCounters::unreachable,
            "errors sent because a packet's destination cannot be reached, or does not serve it, "
            "or the function has no room for it"}
        .with_text("unreachable"),
    Counter{"limited", &IcmpErrorCounters::limited, "errors not sent: too many of them"}.with_text(
        "for their number"),
    Counter{"unsendable", &IcmpErrorCounters::unsendable,
            "errors not sent: the rules forbid it, or the port has no address of the family"}
        .with_text("by rule")};
static_assert(lists_all(kIcmpErrorCounters));

// Those that were sent stand first.
inline constexpr std::span kIcmpErrorsSent = std::span(kIcmpErrorCounters).first<3>();
inline constexpr std::span kIcmpErrorsNotSent = std::span(kIcmpErrorCounters).subspan<3>();

}  // namespace roost::l3
