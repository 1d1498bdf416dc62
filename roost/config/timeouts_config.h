// What the configuration's [timeouts], and those of a part of it, say: how long connections of each
// state live without a packet.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/conntrack/connection_state.h"
#include "roost/conntrack/timeouts.h"

namespace roost::config {

class TomlTable;

// Which of them a function has.
using TimeoutNames = std::span<const conntrack::NamedTimeout>;

// Reads [timeouts] of a file's top table: seconds are kept as ticks, at least as long as the file
// says and less than a tick longer.
[[nodiscard]] conntrack::StateTimeouts read_timeouts(TomlTable& top, TimeoutNames names,
                                                     double tick_seconds,
                                                     std::vector<Fault>& faults);

// Reads `timeouts` of a table within the file, whose faults name it `name`: those that it gives,
// and 0 for others.
[[nodiscard]] conntrack::StateTimeouts read_given_timeouts(TomlTable& above, std::string_view name,
                                                           TimeoutNames names, double tick_seconds,
                                                           std::vector<Fault>& faults);

}  // namespace roost::config
