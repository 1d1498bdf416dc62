// The timeouts as people name them: in the configuration and on the command line.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "apps/lb/connection_state.h"

namespace roost::lb {

struct NamedTimeout {
  std::string_view name;
  double seconds_default;
  std::span<const ConnectionState> states;
};

inline constexpr std::array kSynStates = {ConnectionState::kSynSent, ConnectionState::kSynReceived};
inline constexpr std::array kEstablishedStates = {ConnectionState::kEstablished};
inline constexpr std::array kClosingStates = {ConnectionState::kClientFinished,
                                              ConnectionState::kBackendFinished};
inline constexpr std::array kClosedStates = {ConnectionState::kClosed, ConnectionState::kReset,
                                             ConnectionState::kResetClientSpoke,
                                             ConnectionState::kResetBackendSpoke};
inline constexpr std::array kUdpStates = {ConnectionState::kUdp};

inline constexpr std::array<NamedTimeout, 5> kNamedTimeouts = {
    {{"tcp_syn", 60, kSynStates},
     {"tcp_established", 900, kEstablishedStates},
     {"tcp_closing", 120, kClosingStates},
     {"tcp_closed", 10, kClosedStates},
     {"udp", 60, kUdpStates}}};

// A time in whole ticks, rounded up; nothing when it is not positive or more than a timer can hold.
[[nodiscard]] std::optional<TickCount> timeout_ticks(double seconds, double tick_seconds);

}  // namespace roost::lb
