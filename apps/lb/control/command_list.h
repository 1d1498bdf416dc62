// What a running load balancer can be asked and told.
#pragma once

#include <span>

#include "roost/control/commands.h"

namespace roost::lb {

using control::Command;
using control::Json;
using control::Parameter;
using control::ParameterKind;

[[nodiscard]] std::span<const Command> command_list();

}  // namespace roost::lb
