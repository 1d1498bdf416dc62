#include "lab/functions/firewall_holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/firewall/config/config.h"
#include "lab/functions/rules.h"
#include "lab/lb/fill_flows.h"
#include "roost/acl/rule_set.h"
#include "roost/routing/routing_table.h"

namespace roost::lab {
namespace {

std::string firewall_toml(const FirewallSettings& settings, const std::string& rules) {
  return fmt::format(R"(tick_seconds = 1
[firewall]
connections = {}
hash_seed = {}
[timeouts]
{}[[port]]
addresses = ["192.0.2.1/24"]
mac = "02:00:00:00:00:01"
[[neighbour]]
address = "192.0.2.254"
mac = "02:00:00:00:01:01"
[[route]]
prefix = "0.0.0.0/0"
via = "192.0.2.254"
{})",
                     settings.connections, settings.hash_seed, kPacketTimeouts, rules);
}

Result<firewall::Config> parsed(const std::string& toml) {
  firewall::ConfigOutcome outcome = firewall::parse_config(toml);
  if (!outcome.config) return Error{config::describe(outcome.faults.front(), "the configuration")};
  return *std::move(outcome.config);
}

}  // namespace

Result<std::unique_ptr<Firewall>> Firewall::create(const FirewallSettings& settings) {
  auto config = parsed(firewall_toml(settings, "[[rule]]\naction = \"allow\"\n"));
  if (!config) return config.error();
  auto table = routing::RoutingTable::create(config.value().network);
  if (!table) return table.error();
  config.value().table = table.value();
  const std::vector<net::MacAddress> macs(1);
  auto state = firewall::State::create(config.value(), macs);
  if (!state) return state.error();
  return std::unique_ptr<Firewall>(new Firewall(std::move(state).value(), settings));
}

std::optional<Error> Firewall::deny() {
  const auto config = parsed(firewall_toml(settings_, denying_rules(settings_.rules)));
  if (!config) return config.error();
  auto rules = acl::RuleSet::create(rules_by_place(config.value()), config.value().hash_seed);
  if (!rules) return rules.error();
  state_.exchange(rules.value(), config.value().timeouts, config.value().picks_up);
  return {};
}

std::optional<Error> FirewallHolder::fill(std::span<const uint32_t> flows, Tick now) {
  flow_count_ = flows.size();
  if (auto error = fill_flows(function(), flows, now)) return error;
  return firewall_->deny();
}

std::optional<Error> FirewallHolder::wrong() {
  const uint64_t others = state().filter_counters().without_connection;
  if (others != 0) return Error{fmt::format("{} packets passed without a connection", others)};
  return wrong_flows(flow_count_, connections().counts().created, connections().count_live());
}

std::optional<Error> DenyingFirewallHolder::wrong() {
  if (state().filter_counters().established != 0) {
    return Error{
        fmt::format("{} packets were of a connection", state().filter_counters().established)};
  }
  const std::span counts = state().rules().counts();
  const size_t idle = static_cast<size_t>(std::ranges::count_if(
      counts.first(counts.size() - 1), [](const auto& count) { return count.packets == 0; }));
  if (idle > counts.size() / 2) {
    return Error{fmt::format("{} of {} rules denied nothing", idle, counts.size() - 1)};
  }
  return FirewallHolder::wrong();
}

}  // namespace roost::lab
