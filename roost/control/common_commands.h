// Commands that every function has, for its list.
#pragma once

#include <algorithm>
#include <array>

#include "roost/control/commands.h"

namespace roost::control {

inline constexpr std::array kNeighboursParameters = {
    Parameter{.name = "state",
              .choices = "unknown incomplete reachable stale probe failed learned static",
              .help = "only neighbours in this state"}};

inline constexpr std::array kTraceParameters = {
    Parameter{.name = "action",
              .is_positional = true,
              .choices = "on off show",
              .help = "on: from now on, with a filter; show (the default): what was seen since the "
                      "last time; off: that, and no more"},
    Parameter{.name = "filter",
              .is_positional = true,
              .help = "which packets, as for tcpdump: 'host 192.0.2.10 and port 80'"}};

inline constexpr Command kNeighboursCommand = {
    .name = "neighbours",
    .help = "the stations on the ports' networks, and what is known of each",
    .parameters = kNeighboursParameters,
    .view = neighbours_view,
    .is_in_telemetry = true};
inline constexpr Command kAnnounceCommand = {
    .name = "announce",
    .help = "tell the ports' networks which addresses are answered for here, at once"};
inline constexpr Command kTraceCommand = {.name = "trace",
                                          .help = "what packets meet on their way, in words",
                                          .parameters = kTraceParameters,
                                          .view = trace_view};
inline constexpr Command kReloadCommand = {
    .name = "reload",
    .help = "take the configuration as its file is now; a wrong one changes nothing"};
// Of workers that have no columns of their own.
inline constexpr Command kWorkersCommand = {
    .name = "workers",
    .help = "what each worker does, and with how many cycles",
    .view = workers_view,
    .is_in_telemetry = true};
inline constexpr Command kVersionCommand = {
    .name = "version", .help = "what is running", .is_in_telemetry = true};

// A function's own commands, and then those of every function.
template <size_t kOwnCount>
[[nodiscard]] constexpr auto with_common_commands(const std::array<Command, kOwnCount>& own) {
  constexpr std::array kCommon = {kTraceCommand, kReloadCommand, kWorkersCommand, kVersionCommand};
  std::array<Command, kOwnCount + kCommon.size()> commands{};
  std::ranges::copy(kCommon, std::ranges::copy(own, commands.begin()).out);
  return commands;
}
// The same of one that has a network's addresses: between them those of its stations.
template <size_t kOwnCount>
[[nodiscard]] constexpr auto with_network_commands(const std::array<Command, kOwnCount>& own) {
  constexpr std::array kNetwork = {kNeighboursCommand, kAnnounceCommand};
  std::array<Command, kOwnCount + kNetwork.size()> commands{};
  std::ranges::copy(kNetwork, std::ranges::copy(own, commands.begin()).out);
  return with_common_commands(commands);
}

}  // namespace roost::control
