#include "apps/firewall/config/config.h"

#include "roost/config/comparison.h"
#include "roost/config/timeouts_config.h"
#include "roost/config/toml_table.h"
#include "roost/conntrack/timeouts.h"

namespace roost::firewall {

namespace {

using config::Fault;
using config::TomlTable;

constexpr size_t kRoutesMax = 1'000'000;
constexpr uint64_t kConnectionsDefault = 1'000'000;
constexpr uint64_t kConnectionsMax = uint64_t{1} << 30;
constexpr uint64_t kLogDefault = 10;
constexpr uint64_t kLogMax = 10'000;
constexpr std::array<std::string_view, 2> kWithoutRuleNames = {"deny", "reject"};

void read_firewall(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  config.connections = kConnectionsDefault;
  config.log_per_second = kLogDefault;
  const toml::table* toml = top.table("firewall");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[firewall]", faults);
  config.is_wire = table.boolean("wire").value_or(false);
  config.passes_ethertypes = table.boolean("pass_other_ethertypes").value_or(false);
  config.is_stateful = table.boolean("stateful").value_or(true);
  config.picks_up = table.boolean("pick_up").value_or(true);
  config.connections =
      table.integer("connections", {1, kConnectionsMax}).value_or(kConnectionsDefault);
  if (!config.is_stateful) config.connections = 0;
  if (table.choice("without_rule", kWithoutRuleNames) == size_t{1}) {
    config.action_without_rule = acl::Action::kReject;
  }
  config.log_per_second = table.integer("log_per_second", {0, kLogMax}).value_or(kLogDefault);
  config::read_function(table, config);
  if (config.passes_ethertypes && !config.is_wire) {
    table.fault_in("pass_other_ethertypes", "only a wire passes them; give wire = true");
  }
  table.refuse_unknown_keys();
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  read_firewall(top, faults, config);
  config.network =
      l3::read_network(top, faults, {.needs_addresses = !config.is_wire, .routes_max = kRoutesMax});
  if (config.is_wire) l3::check_wire(config.network, "[firewall] wire", faults);
  config.rules = acl::read_rules(top, config.network.ports.size(), faults);
  config.timeouts =
      config::read_timeouts(top, conntrack::kNamedTimeouts, config.tick_seconds(), faults);
  config.control = config::read_control(top, faults);
  top.refuse_unknown_keys();
  return config;
}

}  // namespace

std::vector<acl::RuleConfig> rules_by_place(const Config& config) {
  std::vector<acl::RuleConfig> rules = config.rules;
  rules.push_back({.name = "none", .action = config.action_without_rule});
  return rules;
}

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

std::vector<Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the firewall");
  config::compare_function(running, file, "[firewall]", comparison);
  comparison.compare(0, "[firewall] wire", running.is_wire, file.is_wire);
  comparison.compare(0, "[firewall] stateful", running.is_stateful, file.is_stateful);
  comparison.compare(0, "[firewall] connections", running.connections, file.connections);
  comparison.compare(0, "[firewall] log_per_second", running.log_per_second, file.log_per_second);
  l3::NetworkConfig same_routes = file.network;
  same_routes.routes = running.network.routes;
  l3::compare_network(running.network, same_routes, comparison);
  return comparison.take();
}

}  // namespace roost::firewall
