// What a [[service]] says about how its backends are checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roost/config/toml_table.h"
#include "roost/control/check_kind.h"

namespace roost::lb {

struct CheckConfig {
  control::CheckKind kind{};
  std::optional<uint16_t> port{};  // else the backend's, if it has one only
  double every_seconds = 5;
  double timeout_seconds = 2;
  uint32_t rise = 2;  // good answers in a row until a failing backend is used again
  uint32_t fall = 3;  // bad ones until it is used no more
};

// Reads a service's `check`; nothing when it has none.
[[nodiscard]] std::optional<CheckConfig> read_check(config::TomlTable& service,
                                                    std::vector<config::Fault>& faults);

}  // namespace roost::lb
