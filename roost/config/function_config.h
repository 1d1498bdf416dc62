// What the configuration of every function has, and what of it cannot change in a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "roost/config/control_config.h"
#include "roost/config/tick_config.h"
#include "roost/config/workers_config.h"

namespace roost::config {

class Comparison;
class TomlTable;

struct FunctionConfig {
  uint64_t tick_microseconds = kTickMicrosecondsDefault;
  std::optional<uint64_t> hash_seed{};  // of all tables; else random
  WorkersConfig workers{};
  ControlConfig control{};

  [[nodiscard]] double tick_seconds() const {
    return static_cast<double>(tick_microseconds) / 1'000'000;
  }
};

// Reads `hash_seed`, `workers`, `pause_microseconds` and `buffers` of a function's own table.
void read_function(TomlTable& table, FunctionConfig& config);

// `section`: the name of that table in the file, "[lb]".
void compare_function(const FunctionConfig& running, const FunctionConfig& file,
                      const std::string& section, Comparison& comparison);

}  // namespace roost::config
