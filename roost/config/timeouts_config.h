// What the configuration's [timeouts], and those of a part of it, say: how long connections of each
// state live without a packet.
#pragma once

#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/conntrack/connection_state.h"

namespace roost::config {

class TomlTable;

// Reads [timeouts] of a file's top table: seconds are kept as ticks, at least as long as the file
// says and less than a tick longer.
[[nodiscard]] conntrack::StateTimeouts read_timeouts(TomlTable& top, double tick_seconds,
                                                     std::vector<Fault>& faults);

// Reads `timeouts` of a table within the file, whose faults name it `name`: those that it gives,
// and 0 for others.
[[nodiscard]] conntrack::StateTimeouts read_given_timeouts(TomlTable& above, std::string_view name,
                                                           double tick_seconds,
                                                           std::vector<Fault>& faults);

}  // namespace roost::config
