// What the configuration's [control] says: where operators and their programs reach a running
// balancer.
#pragma once

#include <cstdint>
#include <string>

namespace roost::lb {

struct ControlConfig {
  std::string socket{};         // path of the unix socket; empty: none
  uint32_t socket_mode = 0660;  // its permissions
  std::string socket_group{};   // its group; empty: the process's own
  std::string metrics{};        // ADDRESS:PORT of the OpenMetrics endpoint; empty: none
};

}  // namespace roost::lb
