// The network functions of this program: the only place that names them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/program/function_command.h"
#include "roost/base/result.h"
#include "roost/control/commands.h"

namespace roost::program {

struct FunctionEntry {
  std::string_view command;      // of `roost lb`
  std::string_view short_about;  // half a line
  std::string_view about;        // a sentence
  std::string_view details;      // what it does with packets, some lines
  std::span<const control::Command> commands;
  int (*run)(const FunctionOptions& options);
  // A configuration for a capture; null: it has none to suggest.
  Result<std::string> (*suggest)(const std::string& capture_path) = nullptr;
  bool takes_over = false;  // one process of it can go on with the connections of another
};

[[nodiscard]] std::span<const FunctionEntry> function_list();

}  // namespace roost::program
