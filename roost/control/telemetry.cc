#include "roost/control/telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace roost::control {

namespace {

using Entries = std::vector<io::TelemetryEntry>;

constexpr size_t kPageEntries = io::kTelemetryEntriesMax - 1;  // and one for next_page

// Numbers that are no counters are given in whole units.
void flatten(const Json& json, const std::string& path, Entries& entries) {
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      flatten(value, path.empty() ? name : fmt::format("{}/{}", path, name), entries);
    }
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.size(); ++i) {
      flatten(json[i], fmt::format("{}/{}", path, i), entries);
    }
  } else if (json.is_number_float()) {
    entries.emplace_back(path, static_cast<uint64_t>(std::llround(json.get<double>())));
  } else if (json.is_number()) {
    entries.emplace_back(path, json.get<uint64_t>());
  } else if (json.is_string()) {
    entries.emplace_back(path, json.get<std::string>());
  }
}

Entries page_of(const Entries& entries, std::string_view parameter) {
  size_t page = 0;
  std::from_chars(parameter.data(), parameter.data() + parameter.size(), page);
  if (page > entries.size() / kPageEntries) return {};
  const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(page * kPageEntries);
  const size_t count =
      std::min(kPageEntries, static_cast<size_t>(std::distance(begin, entries.end())));
  Entries reply(begin, begin + static_cast<std::ptrdiff_t>(count));
  if ((page + 1) * kPageEntries < entries.size()) reply.emplace_back("next_page", page + 1);
  return reply;
}

}  // namespace

std::vector<io::TelemetryCommand> add_telemetry(Control& control) {
  std::vector<io::TelemetryCommand> commands;
  for (const Command& command : control.commands()) {
    if (!command.is_in_telemetry) continue;
    const std::string_view name = command.name;
    const auto answer = [&control, name](std::string_view parameter) -> Entries {
      const Result<Json> result = control.run({{"command", name}});
      if (!result) return {{"error", result.error().message}};
      Entries entries;
      flatten(result.value(), "", entries);
      return page_of(entries, parameter);
    };
    commands.emplace_back(fmt::format("/roost/{}", name),
                          fmt::format("Returns {}. Parameter: the page, from 0", command.help),
                          answer);
  }
  return commands;
}

}  // namespace roost::control
