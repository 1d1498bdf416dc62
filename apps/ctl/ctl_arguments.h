// The commands of running functions as a command line: a subcommand each, made from the functions'
// lists of commands, and what was given turned into a request.
#pragma once

#include <CLI/CLI.hpp>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "apps/ctl/command_union.h"
#include "roost/control/json.h"

namespace roost::ctl {

// Names stand on the command line with dashes: tcp_syn is a value, --some-name a parameter.
class CtlArguments {
 public:
  // Adds the options and subcommands to `app`, which must not outlive this object.
  CtlArguments(CLI::App& app, std::span<const FunctionCommands> functions);
  CtlArguments(const CtlArguments&) = delete;
  CtlArguments& operator=(const CtlArguments&) = delete;

  // After parsing: what to ask.
  [[nodiscard]] control::Json request() const;

  std::string socket{};  // empty: the only one of kSocketFolder
  bool json = false;
  bool only_list = false;  // print the list of commands, send no request

  // The list of commands as JSON, for completion and for tests.
  [[nodiscard]] control::Json list() const;

 private:
  struct Value {
    const JoinedParameter* parameter = nullptr;
    const CLI::App* command = nullptr;
    const CLI::Option* option = nullptr;
    std::string text{};
    double number = 0;
    bool flag = false;
  };

  void add_command(CLI::App& app, const JoinedCommand& command);

  const CLI::App& app_;
  std::vector<JoinedCommand> commands_;
  std::deque<Value> values_;  // CLI11 points to its elements
};

}  // namespace roost::ctl
