#include "roost/control/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace roost::control {

namespace {

std::string names_of(std::span<const Command> commands) {
  std::string names;
  for (const Command& command : commands) names += fmt::format(" {}", command.name);
  return names;
}

bool is_choice(std::string_view choices, const std::string& word) {
  return !word.empty() && word.find(' ') == std::string::npos &&
         fmt::format(" {} ", choices).find(" " + word + " ") != std::string::npos;
}

std::optional<Error> check_value(const Parameter& parameter, const Json& value) {
  switch (parameter.kind) {
    case ParameterKind::kText:
      if (!value.is_string()) return Error{fmt::format("{}: give text", parameter.name)};
      if (!parameter.choices.empty() && !is_choice(parameter.choices, value.get<std::string>())) {
        return Error{fmt::format("{}: give one of: {}", parameter.name, parameter.choices)};
      }
      return {};
    case ParameterKind::kNumber:
      if (!value.is_number()) return Error{fmt::format("{}: give a number", parameter.name)};
      return {};
    case ParameterKind::kFlag:
      if (!value.is_boolean()) return Error{fmt::format("{}: give true or false", parameter.name)};
      return {};
  }
  return Error{"no such kind"};
}

}  // namespace

const Command* find_command(std::span<const Command> commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  return found == commands.end() ? nullptr : &*found;
}

Result<ParsedRequest> parse_request(std::span<const Command> commands, const Json& request) {
  if (!request.is_object() || !request.contains("command") || !request["command"].is_string()) {
    return Error{R"(not a request; write it like {"command": "stats"})"};
  }
  ParsedRequest parsed;
  parsed.command = find_command(commands, request["command"].get<std::string>());
  if (parsed.command == nullptr) {
    return Error{"no such command; there are" + names_of(commands)};
  }
  for (const auto& [name, value] : request.items()) {
    if (name == "command") continue;
    const auto parameter =
        std::ranges::find(parsed.command->parameters, std::string_view(name), &Parameter::name);
    if (parameter == parsed.command->parameters.end()) {
      return Error{fmt::format("{} has no parameter of this name", parsed.command->name)};
    }
    if (auto error = check_value(*parameter, value)) return *error;
    parsed.parameters[name] = value;
  }
  for (const Parameter& parameter : parsed.command->parameters) {
    if (parameter.is_required && !parsed.parameters.contains(parameter.name)) {
      return Error{fmt::format("{} needs {}", parsed.command->name, parameter.name)};
    }
  }
  return parsed;
}

Result<std::optional<uint64_t>> parse_number(const Json& parameters, const char* name, uint64_t min,
                                             uint64_t max) {
  if (!parameters.contains(name)) return std::optional<uint64_t>();
  const auto number = parameters[name].get<double>();
  if (number >= static_cast<double>(min) && number <= static_cast<double>(max) &&
      number == std::floor(number)) {
    return std::optional(static_cast<uint64_t>(number));
  }
  return Error{fmt::format("{}: give a whole number from {} to {}", name, min, max)};
}

Result<std::optional<net::IpPrefix>> parse_prefix(const Json& parameters, const char* name) {
  const std::string text = parameters.value(name, "");
  if (text.empty()) return std::optional<net::IpPrefix>();
  const Result<net::IpPrefix> prefix = net::IpPrefix::parse_network(text);
  if (prefix) return std::optional(prefix.value());
  return Error{fmt::format("{}: give a prefix like 192.0.2.0/24, or an address", name)};
}

}  // namespace roost::control
