// The commands of a running load balancer.
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
