// The commands of a running function, each with its parameters. From a function's list of them the
// control socket, the command line of `roost ctl`, its completion and its help are made.
//
// A request is a JSON object: {"command": "flows", "service": "web"}. The answer is an object too,
// with the result or the reason why there is none.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roost/base/result.h"
#include "roost/control/json.h"
#include "roost/control/view.h"
#include "roost/net/address.h"

namespace roost::control {

enum class ParameterKind : uint8_t { kText, kNumber, kFlag };

struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::kText;
  bool is_positional = false;  // on the command line: a word in its place, not --name
  bool is_required = false;
  std::string_view choices = {};  // the values it may have, between spaces; empty: any
  std::string_view help = {};
};

struct Command {
  std::string_view name;
  std::string_view help;  // a sentence without its full stop
  std::span<const Parameter> parameters{};
  Json (*view)(const Json& result) = list_view;  // how to show the result (view.h)
  bool is_in_telemetry = false;                  // it only shows, and needs no parameter
};

// nullptr: there is none of this name.
[[nodiscard]] const Command* find_command(std::span<const Command> commands, std::string_view name);

// A request that names a command and has its parameters, each of its kind, and nothing else. Errors
// say what is wrong and what would be right.
struct ParsedRequest {
  const Command* command = nullptr;
  Json parameters = Json::object();
};
[[nodiscard]] Result<ParsedRequest> parse_request(std::span<const Command> commands,
                                                  const Json& request);

// A whole number among the parameters; nothing when it is not given.
[[nodiscard]] Result<std::optional<uint64_t>> parse_number(const Json& parameters, const char* name,
                                                           uint64_t min, uint64_t max);

// A prefix among the parameters, or an address for the one that holds only it; nothing when it is
// not given, or empty.
[[nodiscard]] Result<std::optional<net::IpPrefix>> parse_prefix(const Json& parameters,
                                                                const char* name);

[[nodiscard]] inline Error wrong_cursor() { return Error{"cursor: give that of the page before"}; }

// Where a page begins: the numbers of `cursor`, "worker.place" and the like, the first of which is
// below `first_end`; zeroes if there is none.
template <size_t kCount>
[[nodiscard]] Result<std::array<uint64_t, kCount>> parse_cursor(const Json& parameters,
                                                                uint64_t first_end) {
  std::array<uint64_t, kCount> numbers{};
  if (!parameters.contains("cursor")) return numbers;
  const auto text = parameters["cursor"].get<std::string>();
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < kCount; ++i) {
    const bool is_last = i + 1 == kCount;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || (is_last ? next != end : next == end || *next != '.'))
      return wrong_cursor();
    at = is_last ? next : next + 1;
  }
  if (numbers[0] >= first_end) return wrong_cursor();
  return numbers;
}

}  // namespace roost::control
