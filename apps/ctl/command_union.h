// The commands of all functions as one list: what `roost ctl` offers before it knows which function
// answers. A command that several functions have stands in it once, with what each takes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/control/commands.h"

namespace roost::ctl {

struct FunctionCommands {
  std::string_view function;  // "lb"
  std::span<const control::Command> commands;
};

struct JoinedParameter {
  std::string name{};
  control::ParameterKind kind = control::ParameterKind::kText;
  bool is_positional = false;
  bool is_required = false;            // by every function that has the command
  std::vector<std::string> choices{};  // of any of them; empty: any text
  std::string help{};
};

struct JoinedCommand {
  std::string name{};
  // One text if all functions say the same; else each text behind the functions that it is of.
  std::string help{};
  std::vector<JoinedParameter> parameters{};
};

// In the order of the first function that has each. A function refuses what is another's.
[[nodiscard]] std::vector<JoinedCommand> join_commands(std::span<const FunctionCommands> functions);

}  // namespace roost::ctl
