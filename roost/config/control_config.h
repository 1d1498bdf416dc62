// The configuration's [control]: where operators and their programs reach a running
// function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "roost/config/fault.h"

namespace roost::config {

struct ControlConfig {
  std::string socket{};         // path of the unix socket; empty: none
  uint32_t socket_mode = 0660;  // its permissions
  std::string socket_group{};   // its group; empty: the process's own
  std::string metrics{};        // ADDRESS:PORT of the OpenMetrics endpoint; empty: none
  std::string etcd{};           // URL of its JSON gateway, without a slash at its end; empty: none
  std::string etcd_prefix = "/roost/";  // of the keys that are read
};

class Comparison;
class TomlTable;

// Reads [control] of a file's top table; where it is absent, nothing is reached.
// `has_store`: the function takes settings of etcd's; else their keys are unknown.
[[nodiscard]] ControlConfig read_control(TomlTable& top, std::vector<Fault>& faults,
                                         bool has_store = false);

// What `file` says differently: sockets stay what they are while a function runs.
void compare_control(const ControlConfig& running, const ControlConfig& file,
                     Comparison& comparison);

}  // namespace roost::config
