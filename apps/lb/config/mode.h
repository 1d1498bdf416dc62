// How a service's packets reach its backends, and their answers the clients
// (docs/decisions/0013-modes.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "roost/net/encapsulation.h"

namespace roost::lb {

//             the backend gets the packet               its answers go
// kNat        to its address, from the client           to the client, through the balancer
// kFullnat    to its address, from a local port         to the balancer, wherever the backend is
// kL2dsr      as it was, by its MAC                     to the client, past the balancer
// kIpip       as it was, in IP                          likewise
// kGue        as it was, in UDP                         likewise
enum class Mode : uint8_t { kNat, kFullnat, kL2dsr, kIpip, kGue };
inline constexpr std::array<std::string_view, 5> kModeNames = {"nat", "fullnat", "l2dsr", "ipip",
                                                               "gue"};

[[nodiscard]] constexpr std::string_view mode_name(Mode mode) {
  return kModeNames[static_cast<size_t>(mode)];
}

// The balancer sees what clients send only: backends answer as the virtual address.
[[nodiscard]] constexpr bool is_dsr(Mode mode) { return mode >= Mode::kL2dsr; }

[[nodiscard]] constexpr std::optional<net::Encapsulation> encapsulation_of(Mode mode) {
  if (mode == Mode::kIpip) return net::Encapsulation::kIpInIp;
  if (mode == Mode::kGue) return net::Encapsulation::kGue;
  return {};
}

}  // namespace roost::lb
