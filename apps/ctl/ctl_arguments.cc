#include "apps/ctl/ctl_arguments.h"

#include "apps/ctl/default_socket.h"

namespace roost::ctl {

CtlArguments::CtlArguments(CLI::App& app, std::span<const FunctionCommands> functions)
    : app_(app), commands_(join_commands(functions)) {
  app.add_option("--socket", socket,
                 std::string("the control socket; without it, the only one in ") + kSocketFolder);
  app.add_flag("--json", json, "the answer as JSON");
  app.add_flag("--commands", only_list, "print the list of commands as JSON, ask nobody");
  app.require_subcommand(0, 1);
  for (const JoinedCommand& command : commands_) add_command(app, command);
}

void CtlArguments::add_command(CLI::App& app, const JoinedCommand& command) {
  CLI::App* sub = app.add_subcommand(command.name, command.help);
  sub->fallthrough();  // --json may stand behind
  for (const JoinedParameter& parameter : command.parameters) {
    Value& value = values_.emplace_back();
    const std::string name = (parameter.is_positional ? "" : "--") + parameter.name;
    const std::string& help = parameter.help;
    CLI::Option* option = nullptr;
    switch (parameter.kind) {
      case control::ParameterKind::kText:
        option = sub->add_option(name, value.text, help);
        break;
      case control::ParameterKind::kNumber:
        option = sub->add_option(name, value.number, help);
        break;
      case control::ParameterKind::kFlag:
        option = sub->add_flag(name, value.flag, help);
        break;
    }
    option->required(parameter.is_required);
    if (!parameter.choices.empty()) option->check(CLI::IsMember(parameter.choices));
    value.parameter = &parameter;
    value.command = sub;
    value.option = option;
  }
}

control::Json CtlArguments::list() const {
  control::Json commands = control::Json::array();
  for (const JoinedCommand& command : commands_) {
    control::Json parameters = control::Json::array();
    for (const JoinedParameter& parameter : command.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"is_positional", parameter.is_positional},
                            {"is_required", parameter.is_required},
                            {"choices", parameter.choices},
                            {"help", parameter.help}});
    }
    commands.push_back(
        {{"name", command.name}, {"help", command.help}, {"parameters", std::move(parameters)}});
  }
  return commands;
}

control::Json CtlArguments::request() const {
  const CLI::App* command = app_.get_subcommands().front();
  control::Json request = {{"command", command->get_name()}};
  for (const Value& value : values_) {
    if (value.command != command || value.option->count() == 0) continue;
    control::Json& given = request[value.parameter->name];
    switch (value.parameter->kind) {
      case control::ParameterKind::kText:
        given = value.text;
        break;
      case control::ParameterKind::kNumber:
        given = value.number;
        break;
      case control::ParameterKind::kFlag:
        given = value.flag;
        break;
    }
  }
  return request;
}

}  // namespace roost::ctl
