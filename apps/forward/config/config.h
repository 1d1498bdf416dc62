// What the router's configuration file says, and reading it; whole or not at all, as for every
// function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"
#include "roost/l3/network_config.h"

namespace roost::routing {
struct RoutingTable;
}

namespace roost::forward {

struct Config : config::FunctionConfig {
  bool is_wire = false;  // two ports; what one receives leaves by the other
  l3::NetworkConfig network{};
  std::shared_ptr<const routing::RoutingTable> table{};  // made of the routes when EAL runs
};

using ConfigOutcome = config::Outcome<Config>;

[[nodiscard]] ConfigOutcome parse_config(std::string_view text);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// A fault for each thing that `file` says differently and that cannot change while packets flow.
// Routes can.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::forward
