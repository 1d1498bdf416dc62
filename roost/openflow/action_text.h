// The words of a flow's actions, read.
#pragma once

#include <string>
#include <string_view>

#include "roost/openflow/flow.h"

namespace roost::openflow {

// Reads one action, "output:2", behind those that the flow has; its match must be whole. Returns
// what is wrong with it, or what to give; "" if nothing is.
[[nodiscard]] std::string read_action(std::string_view word, Flow& flow);

}  // namespace roost::openflow
