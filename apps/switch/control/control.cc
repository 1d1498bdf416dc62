#include "apps/switch/control/control.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "roost/bridge/switch_causes.h"
#include "roost/control/common_commands.h"
#include "roost/control/fdb_commands.h"
#include "roost/control/report_json.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"

namespace roost::switching {

namespace {

using control::Json;
using control::View;

Json stats_view(const Json& result) {
  return control::stats_view(result, [](View& view) {
    view.text("").list("/frames");
    view.text("stations").list("/stations", View::Zeroes::kLeftOut);
    view.text("forwarding database").list("/fdb");
  });
}

Json ports_view(const Json&) {
  return View()
      .table("/ports", {"port", "device", "untagged", "tagged", "entries", "learn_max", "received",
                        "sent", "refused"})
      .take();
}

Json vlans_view(const Json&) {
  return View().table("/vlans", {"vlan", "untagged", "tagged"}).take();
}

Json moves_view(const Json&) {
  return View().table("/moves", {"vlan", "mac", "port", "moves", "held"}).take();
}

constexpr auto kCommands = control::with_common_commands(std::array{
    control::Command{.name = "stats",
                     .help = "frames, stations, drops by cause, and cycles by worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    control::Command{.name = "ports",
                     .help = "the ports: their VLANs, how many stations each has, and its frames",
                     .view = ports_view,
                     .is_in_telemetry = true},
    control::Command{.name = "vlans",
                     .help = "the VLANs, and which ports have them untagged and tagged",
                     .view = vlans_view,
                     .is_in_telemetry = true},
    control::kFdbCommand,
    control::Command{.name = "moves",
                     .help = "addresses that moved lately, and those that are held for it",
                     .view = moves_view,
                     .is_in_telemetry = true}});

// A row for each VLAN that a port has.
Json vlan_row(uint16_t vlan, const bridge::VlanPorts& vlans) {
  const net::PortSet untagged = vlans.untagged_ports(vlan);
  return {{"vlan", vlan},
          {"untagged", fmt::format("{}", fmt::join(untagged, " "))},
          {"tagged", fmt::format("{}", fmt::join(vlans.ports_of(vlan) - untagged, " "))}};
}

}  // namespace

std::span<const control::Command> command_list() { return kCommands; }

Control::Control(const switching::Config& switch_config, control::Control::Config config,
                 std::vector<State*> states)
    : control::Control(std::move(config)),
      switch_config_(switch_config),
      rules_(switch_config.rules()),
      states_(std::move(states)) {}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "fdb") return fdb(request.parameters);
  if (name == "vlans") return vlans();
  if (name == "moves") return moves();
  if (name == "ports") return ports();
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  return control::stats_or_workers_json(name, report.value(), workers());
}

Result<Json> Control::ports() {
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  Json rows = control::ports_json(report.value());
  for (size_t i = 0; i < port_count(); ++i) {
    const PortConfig& port = switch_config_.ports[i];
    const bridge::VlanPorts::Port& vlans = port.rules.vlans;
    rows[i]["port"] = i;
    rows[i]["untagged"] = vlans.untagged ? Json(*vlans.untagged) : Json();
    rows[i]["tagged"] = fmt::format("{}", fmt::join(vlans.tagged, " "));
    rows[i]["entries"] = report.value().fdb.entries_of[i];
    rows[i]["learn_max"] = port.learn_max ? Json(*port.learn_max) : Json();
  }
  return Json{{"ports", std::move(rows)}};
}

Result<Json> Control::fdb(const Json& parameters) {
  return control::run_fdb(parameters, {.fdb = database(),
                                       .vlans = rules_->vlans,
                                       .port_count = port_count(),
                                       .static_max = switch_config_.static_max,
                                       .static_advice = "give [switch] static_max more and restart",
                                       .tick_seconds = switch_config_.tick_seconds(),
                                       .now = [this]() -> Result<Tick> {
                                         const Result<Report> sample = take_sample();
                                         if (!sample) return sample.error();
                                         return sample.value().now;
                                       }});
}

Json Control::vlans() const {
  Json rows = Json::array();
  for (uint16_t vlan = bridge::kVlanMin; vlan <= bridge::kVlanMax; ++vlan) {
    if (!rules_->vlans.ports_of(vlan).empty()) rows.push_back(vlan_row(vlan, rules_->vlans));
  }
  return {{"vlans", std::move(rows)}};
}

Result<Json> Control::moves() {
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  struct Row {
    bridge::FdbKey key;
    std::optional<bridge::FdbValue> value;
    uint32_t moves;
    bool is_held;
  };
  std::vector<Row> found;  // as text when others may write again
  {
    bridge::Fdb::Writer writer = database().write();
    writer.moves(report.value().now)
        .for_each([&](const bridge::FdbKey& key, uint32_t moves, bool is_held) {
          found.push_back({key, writer.find(key), moves, is_held});
        });
  }
  Json rows = Json::array();
  for (const auto& [key, value, moves, is_held] : found) {
    rows.push_back({{"vlan", key.vlan()},
                    {"mac", key.mac().format()},
                    {"port", value ? control::fdb_port_json(*value) : Json()},
                    {"moves", moves},
                    {"held", is_held}});
  }
  return Json{{"moves", std::move(rows)}};
}

Result<Report> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

Result<Report> Control::take_sample() {
  control::Requests<SampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    requests.add(config_.workers[i], *states_[i], port_count());
  }
  if (auto error = ask(requests.posted())) return *error;
  Report report;
  for (const SampleRequest& request : requests) add(request, report);
  report.fdb = report_fdb(database(), port_count(), report.now);
  complete(report);
  return report;
}

}  // namespace roost::switching
