#include "apps/nat/control/control.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "roost/control/common_commands.h"
#include "roost/control/connection_commands.h"
#include "roost/control/mapping_commands.h"
#include "roost/control/static_mappings.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"

namespace roost::nat {

namespace {

using control::Json;
using control::Parameter;
using control::View;

Json stats_view(const Json& result) {
  return control::stats_view(result, [](View& view) {
    view.text("translated").list("/translated");
    view.text("mappings").list("/mappings");
    view.text("connections").list("/flows", View::Zeroes::kLeftOut);
  });
}

Json flows_view(const Json& result) {
  return control::connections_view(
      result, {"worker", "protocol", "inside", "local", "remote", "from", "state", "class"},
      {"from", "state", "flows"});
}

Json routes_view(const Json&) { return View().table("/routes", {"prefix", "via", "port"}).take(); }

constexpr auto kFlowParameters = control::with_connection_parameters(std::array{
    Parameter{.name = "action",
              .is_positional = true,
              .choices = "list count delete",
              .help = "list (the default): one by one; count: by where they began and state; "
                      "delete: those of the filter"},
    Parameter{.name = "from",
              .choices = "inside outside",
              .help = "only connections whose first packet came from there"}});

constexpr auto kCommands = control::with_network_commands(std::array{
    control::Command{.name = "stats",
                     .help = "packets, translations, mappings, drops by cause, and cycles by "
                             "worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    control::kMappingsCommand,
    control::Command{.name = "flows",
                     .help = "the connections, one by one or counted, and deleting them",
                     .parameters = kFlowParameters,
                     .view = flows_view},
    control::Command{.name = "routes",
                     .help = "the routes in force, and the ports' networks",
                     .view = routes_view,
                     .is_in_telemetry = true}});

// What a reload changes of a worker beside its forwards; nothing of it can fail.
class TakeRequest final : public node::Request {
 public:
  TakeRequest(State& state, const Config& config)
      : state_(state), config_(config), routes_(routing::WorkerRoutes::of(config.table)) {}
  bool step() override {
    state_.take_settings(config_.timeouts, config_.ports_per_host);
    state_.routes().exchange(routes_);
    return true;
  }

 private:
  State& state_;
  const Config& config_;
  routing::WorkerRoutes routes_;  // afterwards those of before
};

}  // namespace

std::span<const control::Command> command_list() { return kCommands; }

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  const auto ask_all = [this](std::span<node::Request* const> requests) { return ask(requests); };
  if (name == "mappings") {
    std::vector<const conntrack::Held*> held;
    for (State* const state : states_) held.push_back(&state->held());
    return control::run_mappings(request.parameters, held, ask_all);
  }
  if (name == "flows") return flows(request.parameters);
  if (name == "routes") return Json{{"routes", control::routes_json(running_.table.get())}};
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  return control::stats_or_workers_json(name, report.value(), workers());
}

Result<Json> Control::flows(const Json& parameters) {
  const std::string from = parameters.value("from", "");
  const std::vector<bool> sides = {from != "outside", from != "inside"};
  using Walk = control::Ipv4Walk<State::Tracker::Connections>;
  const auto side_name = [](uint32_t side) {
    return side == conntrack::kInside ? "inside" : "outside";
  };
  control::ConnectionSource source{
      .worker_count = states_.size(),
      .walk =
          [this](size_t worker, const control::ConnectionWalk::Config& config) {
            return std::make_unique<Walk>(states_[worker]->tracker().connections(), config);
          },
      .ask = [this](std::span<node::Request* const> requests) { return ask(requests); },
      .describe = {},
      .describe_owner = {}};
  source.describe = [&](const control::ConnectionRow& row, Json& json) {
    const std::string client = net::endpoint_text(row.client, row.client_port);
    const std::string server = net::endpoint_text(row.destination, row.destination_port);
    json["protocol"] = control::mapped_protocol_name(row.protocol);
    json["inside"] = row.owner == conntrack::kInside ? client : server;
    json["remote"] = row.owner == conntrack::kInside ? server : client;
    json["from"] = side_name(row.owner);
  };
  source.describe_owner = [&](size_t, uint32_t side, Json& json) {
    json["from"] = side_name(side);
  };
  return control::run_connections(parameters, {sides, {}}, !from.empty(), source);
}

size_t Control::advertised_count() const {
  const std::vector<net::IpAddress> external(running_.external.begin(), running_.external.end());
  return l3::local_addresses(running_.network.ports, external).advertised.size();
}

Result<Report> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

Result<Report> Control::take_sample() {
  control::Requests<NatSample> samples;
  for (size_t worker = 0; worker < states_.size(); ++worker)
    samples.add(workers()[worker], *states_[worker], running_.network.ports.size());
  if (auto error = ask(samples.posted())) return *error;
  Report report;
  for (const NatSample& one : samples) {
    report.work += one.work;
    report.routes.add(one.routes);
    control::add(one, report);
  }
  complete(report);
  return report;
}

// Forwards first, which one worker may have to refuse.
std::optional<Error> Control::exchange(const nat::Config& file) {
  std::vector<Held*> held;
  for (State* const state : states_) held.push_back(&state->held());
  const control::StaticOutcome outcome = control::exchange_static_mappings(
      mailboxes(), held, {running_.forwards, file.forwards, file.external}, config_.function);
  if (outcome.taken) {
    const net::Endpoint4& end = outcome.taken->external;
    return Error{fmt::format(
        "{}:{}: [[forward]] external: {} is taken by a mapping; give another port, or reload "
        "again when it is over, as `roost ctl mappings --outside {}` shows",
        config_.config_path, outcome.taken->line, net::endpoint_text(end.address, end.port),
        end.address.format())};
  }
  if (outcome.error) return outcome.error;
  control::Requests<TakeRequest> taking;
  for (State* const state : states_) taking.add(*state, file);
  return control::ask_until_done(mailboxes(), taking.posted()).error(config_.function);
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome read = nat::read_config(config_.config_path);
  std::vector<config::Fault> faults = read.faults;
  if (read.config) faults = refused_changes(running_, *read.config);
  if (!faults.empty() || !read.config) return config::error_of(faults, config_.config_path);
  nat::Config file = std::move(*read.config);
  auto made = routing::RoutingTable::create(file.network, running_.table->hops);
  if (!made) return made.error();
  file.table = made.value();
  if (auto error = exchange(file)) return *error;
  running_.network.routes = file.network.routes;
  running_.forwards = file.forwards;
  running_.timeouts = file.timeouts;
  running_.ports_per_host = file.ports_per_host;
  running_.table = file.table;
  return Json{{"forwards", running_.forwards.size()}, {"routes", running_.network.routes.size()}};
}

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} forwards, {} routes", taken["forwards"].get<size_t>(),
                     taken["routes"].get<size_t>());
}

}  // namespace roost::nat
