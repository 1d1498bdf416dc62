// The timeouts as people name them: in the configuration and on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "roost/conntrack/connection_state.h"
#include "roost/expiry/slot_timers.h"

namespace roost::conntrack {

struct NamedTimeout {
  std::string_view name;
  double seconds_default;
  std::span<const ConnectionState> states;
};

inline constexpr std::array kSynStates = {ConnectionState::kSynSent, ConnectionState::kSynReceived};
inline constexpr std::array kEstablishedStates = {ConnectionState::kEstablished};
inline constexpr std::array kClosingStates = {ConnectionState::kClientFinished,
                                              ConnectionState::kServerFinished};
inline constexpr std::array kClosedStates = {ConnectionState::kClosed, ConnectionState::kReset,
                                             ConnectionState::kResetClientSpoke,
                                             ConnectionState::kResetServerSpoke};
inline constexpr std::array kUdpStates = {ConnectionState::kUdp};
inline constexpr std::array kEchoStates = {ConnectionState::kEcho};
inline constexpr std::array kOtherStates = {ConnectionState::kOther};

inline constexpr std::array<NamedTimeout, 7> kNamedTimeouts = {
    {{"tcp_syn", 60, kSynStates},
     {"tcp_established", 900, kEstablishedStates},
     {"tcp_closing", 120, kClosingStates},
     {"tcp_closed", 10, kClosedStates},
     {"udp", 60, kUdpStates},
     {"icmp_echo", 30, kEchoStates},
     {"other", 600, kOtherStates}}};
// Of functions that have connections of TCP and UDP only.
inline constexpr auto kTcpUdpTimeouts = std::span(kNamedTimeouts).first<5>();

// A time in whole ticks, rounded up; nothing when it is not positive or more than a timer can hold.
[[nodiscard]] inline std::optional<TickCount> timeout_ticks(double seconds, double tick_seconds) {
  if (!(seconds > 0) || seconds > tick_seconds * kTimeoutTicksMax * (1 + 1e-12)) return {};
  const double ticks = std::ceil(seconds / tick_seconds - 1e-9);
  return std::clamp(static_cast<TickCount>(ticks), TickCount{1}, kTimeoutTicksMax);
}

// The defaults, at this length of a tick; what a timer cannot hold is as long as it can.
[[nodiscard]] inline StateTimeouts default_timeouts(double tick_seconds) {
  StateTimeouts timeouts{};
  for (const NamedTimeout& named : kNamedTimeouts) {
    for (const ConnectionState state : named.states) {
      timeouts[static_cast<size_t>(state)] =
          timeout_ticks(named.seconds_default, tick_seconds).value_or(kTimeoutTicksMax);
    }
  }
  return timeouts;
}

// Those of `given`, and of `others` where it has none, which is 0.
[[nodiscard]] inline StateTimeouts completed(const StateTimeouts& given,
                                             const StateTimeouts& others) {
  StateTimeouts timeouts = given;
  for (size_t state = 0; state < timeouts.size(); ++state) {
    if (timeouts[state] == 0) timeouts[state] = others[state];
  }
  return timeouts;
}

}  // namespace roost::conntrack
