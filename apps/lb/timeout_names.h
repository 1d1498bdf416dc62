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
  std::array<ConnectionState, 2> states;  // a single one stands twice
};

inline constexpr std::array<NamedTimeout, 5> kNamedTimeouts = {
    {{"tcp_syn", 60, {ConnectionState::kSynSent, ConnectionState::kSynReceived}},
     {"tcp_established", 900, {ConnectionState::kEstablished, ConnectionState::kEstablished}},
     {"tcp_closing", 120, {ConnectionState::kClientFinished, ConnectionState::kBackendFinished}},
     {"tcp_closed", 10, {ConnectionState::kClosed, ConnectionState::kClosed}},
     {"udp", 60, {ConnectionState::kUdp, ConnectionState::kUdp}}}};

// A time in whole ticks, rounded up; nothing when it is not positive or more than a timer can hold.
[[nodiscard]] std::optional<TickCount> timeout_ticks(double seconds, double tick_seconds);

}  // namespace roost::lb
