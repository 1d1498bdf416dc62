// What the firewall's configuration file says, and reading it; whole or not at all, as for every
// function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/acl/rule_config.h"
#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"
#include "roost/conntrack/connection_state.h"
#include "roost/l3/network_config.h"

namespace roost::routing {
struct RoutingTable;
}

namespace roost::firewall {

struct Config : config::FunctionConfig {
  bool is_wire = false;  // two ports without addresses; what one receives leaves by the other
  bool passes_ethertypes = false;  // of a wire: frames that are neither IP nor ARP
  bool is_stateful = true;
  bool picks_up = true;      // connections of TCP may begin with another packet than a SYN
  uint64_t connections = 0;  // of each family and worker
  acl::Action action_without_rule = acl::Action::kDeny;
  uint64_t log_per_second = 0;  // lines a worker writes at most
  std::vector<acl::RuleConfig> rules{};
  conntrack::StateTimeouts timeouts{};
  l3::NetworkConfig network{};
  std::shared_ptr<const routing::RoutingTable> table{};  // made of the routes when EAL runs
};

// The rules, each at its place, and behind them what becomes of packets that none of them matches.
[[nodiscard]] std::vector<acl::RuleConfig> rules_by_place(const Config& config);

using ConfigOutcome = config::Outcome<Config>;

[[nodiscard]] ConfigOutcome parse_config(std::string_view text);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// A fault for each thing that `file` says differently and that cannot change while packets flow.
// Rules, routes, timeouts and what becomes of other packets can.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::firewall
