#include "apps/forward/control/control.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "roost/control/common_commands.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"

namespace roost::forward {

namespace {

using control::Json;
using control::View;

Json stats_view(const Json& result) {
  return control::stats_view(result, [](View& view) {
    view.table("/next_hops", control::with_counters<routing::HopCounters>({"via", "port"},
                                                                          routing::kHopCounters));
  });
}

Json routes_view(const Json&) { return View().table("/routes", {"prefix", "via", "port"}).take(); }

constexpr auto kCommands = control::with_network_commands(std::array{
    control::Command{.name = "stats",
                     .help = "packets, next hops, drops by cause, and cycles by worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    control::Command{.name = "routes",
                     .help = "the routes of the configuration in force, and the ports' networks",
                     .view = routes_view,
                     .is_in_telemetry = true}});

}  // namespace

std::span<const control::Command> command_list() { return kCommands; }

Control::Control(const forward::Config& forward_config, control::Control::Config config,
                 std::vector<State*> states)
    : control::Control(std::move(config)),
      forward_config_(forward_config),
      states_(std::move(states)),
      table_(states_.front()->routes().table) {}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  if (request.command->name == "routes") {
    return Json{{"routes", control::routes_json(table_.get())}};
  }
  Result<Report> sample = take_sample();
  if (!sample) return sample.error();
  return control::stats_or_workers_json(request.command->name, sample.value(), workers());
}

size_t Control::advertised_count() const {
  return l3::local_addresses(forward_config_.network.ports, {}).advertised.size();
}

Result<Report> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

Result<Report> Control::take_sample() {
  control::Requests<control::RoutedSampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    requests.add(config_.workers[i], states_[i]->routes(), forward_config_.network.ports.size());
  }
  if (auto error = ask(requests.posted())) return *error;
  Report report;
  for (const control::RoutedSampleRequest& request : requests) {
    control::add(request, report);
    report.routes.add(request.routes);
  }
  complete(report);
  return report;
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) outcome.faults = refused_changes(forward_config_, *outcome.config);
  if (!outcome.config || !outcome.faults.empty()) {
    return config::error_of(outcome.faults, config_.config_path);
  }
  const l3::NetworkConfig& network = outcome.config->network;
  if (table_ != nullptr) {
    auto table = routing::RoutingTable::create(network, table_->hops);
    if (!table) return table.error();
    control::Requests<control::RoutesRequest> requests;
    for (State* state : states_) requests.add(state->routes(), table.value());
    const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
    if (auto error = asked.error(config_.function)) return *error;
    table_ = std::move(table).value();
  }
  const size_t before = std::exchange(forward_config_.network.routes, network.routes).size();
  return Json{{"routes", network.routes.size()}, {"routes_before", before}};
}

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} routes, {} before", taken["routes"].get<size_t>(),
                     taken["routes_before"].get<size_t>());
}

}  // namespace roost::forward
