#include "apps/lb/command_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace roost::lb {

namespace {

constexpr Parameter kService = {.name = "service", .help = "only this service"};
constexpr Parameter kBackend = {.name = "backend", .help = "only backends of this name"};

constexpr std::array<Parameter, 1> kBackendsParameters = {kService};

constexpr std::array<Parameter, 9> kFlowsParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "list count delete",
      .help = "list them (the default), count them by class, service, backend and state, or delete "
              "them"},
     kService,
     kBackend,
     {.name = "client", .help = "only clients in this prefix: 192.0.2.0/24, or an address"},
     {.name = "state",
      .choices = "syn_sent syn_received established client_finished backend_finished closed udp",
      .help = "only connections in this state"},
     {.name = "class",
      .choices = "embryonic confirmed closed",
      .help = "only connections of this class; all but confirmed ones may be evicted"},
     {.name = "limit",
      .kind = ParameterKind::kNumber,
      .help = "at most so many a page, 8 to 1000 (100)"},
     {.name = "cursor", .help = "go on where the page before ended"},
     {.name = "all", .kind = ParameterKind::kFlag, .help = "with delete: without any filter"}}};

constexpr std::array<Parameter, 1> kNeighboursParameters = {
    {{.name = "state",
      .choices = "unknown incomplete reachable stale probe failed learned static",
      .help = "only neighbours in this state"}}};

constexpr std::array<Parameter, 2> kTimeoutsParameters = {
    {{.name = "name",
      .is_positional = true,
      .choices = "tcp_syn tcp_established tcp_closing tcp_closed udp",
      .help = "the timeout to change"},
     {.name = "seconds",
      .kind = ParameterKind::kNumber,
      .is_positional = true,
      .help = "what it is to be; connections get it from their next packet on"}}};

constexpr std::array<Parameter, 3> kBackendParameters = {
    {{.name = "action",
      .is_positional = true,
      .is_required = true,
      .choices = "up down drain",
      .help = "up: its weight is the configuration's again; down, drain: no new connections, those "
              "that are there stay"},
     {.name = "name", .is_positional = true, .is_required = true, .help = "the backend"},
     {.name = "service", .help = "only in this service, else in all that have it"}}};

constexpr std::array<Parameter, 2> kTraceParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "on off show",
      .help =
          "on: from now on, with a filter; show (the default): what was seen since the last time; "
          "off: that, and no more"},
     {.name = "filter",
      .is_positional = true,
      .help = "which packets, as for tcpdump: 'host 192.0.2.10 and port 80'"}}};

constexpr std::array<Command, 12> kCommands = {
    {{"stats", "packets, flows, drops by cause, tables, and cycles by worker", {}},
     {"services", "the services, and what each of their backends carried", {}},
     {"backends", "the backends with their weights, states and live flows", kBackendsParameters},
     {"backend", "take a backend out of service, or put it back", kBackendParameters},
     {"flows", "the connections: listed by pages, counted, or deleted", kFlowsParameters},
     {"neighbours", "the stations on the ports' networks, and what is known of each",
      kNeighboursParameters},
     {"announce", "tell the ports' networks which addresses are answered for here, at once", {}},
     {"timeouts", "the timeouts; with a name and seconds, change one", kTimeoutsParameters},
     {"trace", "what packets meet on their way, in words", kTraceParameters},
     {"reload", "take the configuration as its file is now; a wrong one changes nothing", {}},
     {"workers", "what each worker does, and with how many cycles", {}},
     {"version", "what is running", {}}}};

std::string names_of_commands() {
  std::string names;
  for (const Command& command : kCommands) names += fmt::format(" {}", command.name);
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

std::span<const Command> command_list() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

Result<ParsedRequest> parse_request(const Json& request) {
  if (!request.is_object() || !request.contains("command") || !request["command"].is_string()) {
    return Error{R"(not a request; write it like {"command": "stats"})"};
  }
  ParsedRequest parsed;
  parsed.command = find_command(request["command"].get<std::string>());
  if (parsed.command == nullptr) {
    return Error{"no such command; there are" + names_of_commands()};
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

}  // namespace roost::lb
