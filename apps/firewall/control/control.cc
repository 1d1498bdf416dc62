#include "apps/firewall/control/control.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "apps/firewall/control/requests.h"
#include "roost/control/common_commands.h"
#include "roost/control/connection_commands.h"
#include "roost/control/rule_report.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"

namespace roost::firewall {

namespace {

using control::Json;
using control::View;

Json stats_view(const Json& result) {
  return control::stats_view(result, [&](View& view) {
    view.text("filter").list("/filter");
    if (result.contains("connections")) view.text("connections").list("/connections");
  });
}

Json connections_list_view(const Json& result) {
  return control::connections_view(result,
                                   {"protocol", "client", "server", "port", "state", "class"},
                                   {"port", "state", "flows"});
}

constexpr std::array kConnectionsParameters = control::with_connection_parameters(
    std::array{control::Parameter{.name = "action",
                                  .is_positional = true,
                                  .choices = "list count delete",
                                  .help = "list them, count them, or delete them (list)"},
               control::Parameter{.name = "port",
                                  .kind = control::ParameterKind::kNumber,
                                  .help = "only connections that came by this port"}});

constexpr auto kCommands = control::with_network_commands(std::array{
    control::Command{.name = "stats",
                     .help = "packets, what the filter did, connections, drops by cause, and "
                             "cycles by worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    control::kRulesCommand,
    control::Command{.name = "connections",
                     .help = "connections: list them, count them, delete them",
                     .parameters = kConnectionsParameters,
                     .view = connections_list_view}});

}  // namespace

std::span<const control::Command> command_list() { return kCommands; }

Control::Control(const firewall::Config& own_config, control::Control::Config config,
                 std::vector<State*> states)
    : control::Control(std::move(config)), own_config_(own_config), states_(std::move(states)) {}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "connections") return connections(request.parameters);
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  if (name == "rules") {
    return Json{{"rules", control::rules_json(report.value().rules, report.value().work.rules)}};
  }
  return control::stats_or_workers_json(name, report.value(), workers());
}

Result<Json> Control::connections(const Json& parameters) {
  if (!own_config_.is_stateful) return Error{"there are no connections: [firewall] stateful"};
  const size_t port_count = own_config_.network.ports.size();
  std::vector<bool> ports(port_count, !parameters.contains("port"));
  if (parameters.contains("port")) {
    const auto port = parameters["port"].get<uint64_t>();
    if (port >= port_count) {
      return Error{fmt::format("there is no port {}; give 0 to {}", port, port_count - 1)};
    }
    ports[port] = true;
  }
  using Walk = control::TrackerWalk<decltype(states_.front()->tracker())>;
  return control::run_connections(
      parameters, {ports, ports}, parameters.contains("port"),
      {.worker_count = states_.size(),
       .walk =
           [this](size_t worker, const control::ConnectionWalk::Config& walk) {
             return std::make_unique<Walk>(states_[worker]->tracker(), walk);
           },
       .ask = [this](std::span<node::Request* const> requests) { return ask(requests); },
       .describe =
           [](const control::ConnectionRow& row, Json& json) {
             json["protocol"] = acl::protocol_text(static_cast<uint8_t>(row.protocol));
             json["client"] = net::endpoint_text(row.client, row.client_port);
             json["server"] = net::endpoint_text(row.destination, row.destination_port);
             json["port"] = row.owner;
           },
       .describe_owner = [](size_t, uint32_t owner, Json& json) { json["port"] = owner; }});
}

size_t Control::advertised_count() const {
  return l3::local_addresses(own_config_.network.ports, {}).advertised.size();
}

Result<Report> Control::take_sample() {
  control::Requests<SampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    requests.add(config_.workers[i], *states_[i], own_config_.network.ports.size(),
                 own_config_.rules.size() + 1);
  }
  if (auto error = ask(requests.posted())) return *error;
  Report report;
  report.is_stateful = own_config_.is_stateful;
  report.rules = rules_by_place(own_config_);
  for (const SampleRequest& request : requests) {
    control::add(request, report);
    report.routes.add(request.routes);
    report.work += request.work;
  }
  complete(report);
  return report;
}

void Control::look() {
  const std::scoped_lock lock(mutex_);
  write_log();
}

// What the workers gave is written, whether or not all of them answered.
void Control::write_log() {
  control::Requests<control::LogRequest> requests;
  for (State* state : states_) requests.add(state->log());
  (void)ask(requests.posted());
  for (const control::LogRequest& request : requests) write_log(request.records());
}

void Control::write_rest() {
  for (State* state : states_) {
    control::LogRequest request(state->log());
    (void)request.step();
    write_log(request.records());
  }
}

void Control::write_log(std::span<const acl::DecisionRecord> records) {
  for (const acl::DecisionRecord& record : records) {
    config_.tell(control::Severity::kNotice, control::record_text(record, own_config_.rules));
  }
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) outcome.faults = refused_changes(own_config_, *outcome.config);
  if (!outcome.config || !outcome.faults.empty()) {
    return config::error_of(outcome.faults, config_.config_path);
  }
  const firewall::Config& file = *outcome.config;
  firewall::Config next = own_config_;
  next.rules = file.rules;
  next.action_without_rule = file.action_without_rule;
  next.timeouts = file.timeouts;
  next.picks_up = file.picks_up;
  next.network.routes = file.network.routes;
  if (own_config_.table != nullptr) {
    auto table = routing::RoutingTable::create(file.network, own_config_.table->hops);
    if (!table) return table.error();
    next.table = std::move(table).value();
  }
  control::Requests<ExchangeRequest> exchanges;
  for (State* state : states_) {
    auto rules = acl::RuleSet::create(rules_by_place(next), next.hash_seed);
    if (!rules) return rules.error();
    exchanges.add(*state, std::move(rules).value(), next);
  }
  control::Requests<control::RoutesRequest> routes;
  for (State* state : states_) routes.add(state->routes(), next.table);
  const auto done = [&](const control::Asked& asked) { return asked.error(config_.function); };
  if (auto error = done(control::ask_until_done(*config_.mailboxes, exchanges.posted()))) {
    return *error;
  }
  if (next.table != nullptr) {
    if (auto error = done(control::ask_until_done(*config_.mailboxes, routes.posted()))) {
      return *error;
    }
  }
  // By the rules of before, which made them.
  for (const ExchangeRequest& exchange : exchanges) write_log(exchange.records());
  const size_t before = own_config_.rules.size();
  own_config_ = std::move(next);
  control::Requests<RecheckRequest> rechecks;
  for (State* state : states_) rechecks.add(*state);
  if (auto error = done(control::ask_until_done(*config_.mailboxes, rechecks.posted()))) {
    return *error;
  }
  uint64_t ended = 0;
  for (const RecheckRequest& request : rechecks) ended += request.ended;
  return Json{
      {"rules", own_config_.rules.size()}, {"rules_before", before}, {"connections_ended", ended}};
}

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} rules, {} before; {} connections ended that are not allowed any more",
                     taken["rules"].get<size_t>(), taken["rules_before"].get<size_t>(),
                     taken["connections_ended"].get<uint64_t>());
}

}  // namespace roost::firewall
