#include "apps/classify/control/control.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "apps/classify/control/flow_requests.h"
#include "apps/classify/control/rule_commands.h"
#include "roost/control/common_commands.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"
#include "roost/openflow/mask_text.h"

namespace roost::classifying {

namespace {

using control::Json;
using control::View;

Json stats_view(const Json& result) {
  return control::stats_view(result, [&](View& view) {
    view.text("").list("/pipeline");
    view.text("lookups").list("/classifiers", View::Zeroes::kLeftOut);
    view.text("there now").list("/tables");
    if (result.contains("connections")) view.text("connections").list("/connections");
  });
}

constexpr auto kCommands = control::with_common_commands(std::array{
    control::Command{.name = "stats",
                     .help = "packets, lookups by what answered them, drops by cause, and cycles "
                             "by worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    kRulesCommand, kMasksCommand});

}  // namespace

std::span<const control::Command> command_list() { return kCommands; }

Control::Control(const classifying::Config& own_config, control::Control::Config config,
                 std::vector<State*> states)
    : control::Control(std::move(config)), own_config_(own_config), states_(std::move(states)) {
  own_config_.flows.clear();  // those of the list hold
}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "rules") return rules(request.parameters);
  if (name == "masks") return masks();
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  return control::stats_or_workers_json(name, report.value(), workers());
}

Result<Json> Control::masks() {
  control::Requests<MasksRequest> requests;
  for (const State* state : states_) requests.add(*state);
  if (auto error = ask(requests.posted())) return *error;
  Json masks = Json::array();
  Json tables = Json::array();
  size_t worker = 0;
  for (const MasksRequest& request : requests) {
    for (size_t number = 0; number < request.tables().size(); ++number) {
      const TableMasks& table = request.tables()[number];
      if (table.masks.empty()) continue;
      for (size_t i = 0; worker == 0 && i < table.masks.size(); ++i) {
        masks.push_back({{"table", number},
                         {"place", i},
                         {"mask", openflow::format_mask(table.masks[i])},
                         {"rules", table.rules[i]}});
      }
      tables.push_back({{"worker", worker},
                        {"table", number},
                        {"masks", table.masks.size()},
                        {"megaflows", table.megaflows},
                        {"megaflow_masks", table.megaflow_masks},
                        {"active_flows", static_cast<uint64_t>(table.active_flows)},
                        {"cache", table.is_cache_used ? "in use" : "not in use"}});
    }
    ++worker;
  }
  return Json{{"masks", std::move(masks)}, {"tables", std::move(tables)}};
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) outcome.faults = refused_changes(own_config_, *outcome.config);
  if (!outcome.config || !outcome.faults.empty()) {
    return config::error_of(outcome.faults, config_.config_path);
  }
  return replace_all(outcome.config->flows);
}

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} flows, {} before, {} of them the same", taken["flows"].get<size_t>(),
                     taken["flows_before"].get<size_t>(), taken["kept"].get<size_t>());
}

Result<Report> Control::take_sample() {
  control::Requests<SampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    requests.add(config_.workers[i], *states_[i], own_config_.ports.size());
  }
  if (auto error = ask(requests.posted())) return *error;
  Report report;
  report.tracks_connections = own_config_.connections != 0;
  for (const SampleRequest& request : requests) {
    control::add(request, report);
    report.work += request.work;
  }
  complete(report);
  return report;
}

}  // namespace roost::classifying
