// A TOML file as a whole: taken, or refused with every fault that was found.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/config/toml_table.h"

namespace roost::config {

// A configuration, or why there is none: one of the two is there.
template <class Config>
struct Outcome {
  std::optional<Config> config{};
  std::vector<Fault> faults{};  // in the order of their lines
};

// Calls `read` with the top table of a text, unless it is no TOML; `read` appends its faults. The
// faults in the order of their lines.
[[nodiscard]] std::vector<Fault> read_toml(
    std::string_view text, const std::function<void(TomlTable& top, std::vector<Fault>&)>& read);

// The text of a file, if it is there and of a size that a configuration may have.
[[nodiscard]] Outcome<std::string> read_text(const std::string& path);

// What `read(top, faults)` makes of a text.
template <class Read>
[[nodiscard]] auto parse(std::string_view text, Read&& read) {
  Outcome<decltype(read(std::declval<TomlTable&>(), std::declval<std::vector<Fault>&>()))> outcome;
  outcome.faults = read_toml(text, [&](TomlTable& top, std::vector<Fault>& faults) {
    outcome.config.emplace(read(top, faults));
  });
  if (!outcome.faults.empty()) outcome.config.reset();
  return outcome;
}

// Reads the file itself, by the function's own `parse`. A file that cannot be read is a fault.
template <class Config>
[[nodiscard]] Outcome<Config> read_file(const std::string& path,
                                        Outcome<Config> (*parse)(std::string_view text)) {
  const Outcome<std::string> text = read_text(path);
  if (!text.config) return {.faults = text.faults};
  return parse(*text.config);
}

}  // namespace roost::config
