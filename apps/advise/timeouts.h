// Timeouts in seconds, by the names that configurations have for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "roost/conntrack/timeouts.h"

namespace roost::advise {

// In the order of conntrack::kTcpUdpTimeouts.
enum TimeoutIndex : size_t { kTcpSyn, kTcpEstablished, kTcpClosing, kTcpClosed, kUdp };
inline constexpr size_t kTimeoutCount = conntrack::kTcpUdpTimeouts.size();
static_assert(kTimeoutCount == kUdp + 1 && conntrack::kTcpUdpTimeouts[kUdp].name == "udp" &&
              conntrack::kTcpUdpTimeouts[kTcpClosed].name == "tcp_closed");

using TimeoutSeconds = std::array<double, kTimeoutCount>;

// What a balancer has whose configuration names none.
[[nodiscard]] constexpr TimeoutSeconds default_timeout_seconds() {
  TimeoutSeconds seconds{};
  for (size_t i = 0; i < kTimeoutCount; ++i)
    seconds[i] = conntrack::kTcpUdpTimeouts[i].seconds_default;
  return seconds;
}

// An expired connection is held for so long at most until a sweep reclaims it, or for a tick if
// that is longer (conntrack/tracker_impl.h).
inline constexpr double kSweepSeconds = 5;

}  // namespace roost::advise
