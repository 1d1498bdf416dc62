#include "apps/assets/control/control.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "roost/control/common_commands.h"
#include "roost/control/stats_json.h"
#include "roost/control/view.h"

namespace roost::assets {

namespace {

using control::Json;
using control::Parameter;
using control::ParameterKind;
using control::View;

constexpr uint64_t kRowsDefault = 100;
constexpr uint64_t kRowsMax = 1'000;

Json stats_view(const Json& result) {
  return control::stats_view(result, [](View& view) {
    view.text("").list("/frames");
    view.text("assets").list("/assets", View::Zeroes::kLeftOut);
    view.text("there now").list("/stock");
  });
}

// A host's services in one cell: "tcp/80 udp/53".
Json table_row(Json row) {
  std::string services;
  for (const Json& one : row["services"]) {
    services += fmt::format("{}{}/{}", services.empty() ? "" : " ",
                            one["protocol"].get<std::string>(), one["port"].get<int>());
  }
  row["services"] = services;
  return row;
}

Json assets_view(const Json& result) {
  View view;
  if (result.contains("lines")) {
    for (const Json& row : result["rows"]) view.text(row.dump());
    if (result.contains("cursor")) view.text(Json{{"cursor", result["cursor"]}}.dump());
    return view.take();
  }
  Json rows = Json::array();
  for (const Json& row : result["rows"]) rows.push_back(table_row(row));
  view.table(std::move(rows),
             {"vlan", "mac", "address", "first_seen", "last_seen", "services", "syn"});
  if (result.contains("cursor"))
    view.text("there are more: --cursor " + result["cursor"].get<std::string>());
  return view.take();
}

constexpr std::array kAssetsParameters = {
    Parameter{.name = "network", .help = "only addresses in this prefix: 192.0.2.0/24, or one"},
    Parameter{.name = "vlan", .kind = ParameterKind::kNumber, .help = "only of this VLAN"},
    Parameter{.name = "port",
              .kind = ParameterKind::kNumber,
              .help = "only hosts with a service at this port"},
    Parameter{.name = "lines", .kind = ParameterKind::kFlag, .help = "a line of JSON each"},
    Parameter{.name = "limit", .kind = ParameterKind::kNumber, .help = "rows of a page"},
    Parameter{.name = "cursor", .help = "where the page before ended"}};

constexpr auto kCommands = control::with_common_commands(std::array{
    control::Command{.name = "stats",
                     .help = "frames, hosts and services, drops by cause, and cycles by worker",
                     .view = stats_view,
                     .is_in_telemetry = true},
    control::Command{.name = "assets",
                     .help = "the hosts that were seen, and the services of them that answered",
                     .parameters = kAssetsParameters,
                     .view = assets_view}});

Result<HostFilter> parse_host_filter(const Json& parameters) {
  const auto network = control::parse_prefix(parameters, "network");
  if (!network) return network.error();
  const auto vlan = control::parse_number(parameters, "vlan", 0, 4'095);
  if (!vlan) return vlan.error();
  const auto port = control::parse_number(parameters, "port", 0, net::kL4PortMax);
  if (!port) return port.error();
  HostFilter filter{.network = network.value()};
  if (vlan.value()) filter.vlan = static_cast<uint16_t>(*vlan.value());
  if (port.value()) filter.port = static_cast<uint16_t>(*port.value());
  return filter;
}

// What two workers saw of one host, as one of them would have seen it all.
struct Merged {
  Host host;
  std::vector<Service> services;

  void add(const Host& other, std::span<const Service> others) {
    if (other.last > host.last && other.value.syn) host.value.syn = other.value.syn;
    if (!host.value.syn) host.value.syn = other.value.syn;
    host.first = std::min(host.first, other.first);
    host.last = std::max(host.last, other.last);
    for (const Service& one : others) {
      const auto same = std::ranges::find_if(services, [&](const Service& mine) {
        return mine.protocol == one.protocol && mine.port == one.port;
      });
      if (same == services.end()) {
        services.push_back(one);
        continue;
      }
      same->first = std::min(same->first, one.first);
      same->last = std::max(same->last, one.last);
    }
    std::ranges::stable_sort(services, std::ranges::greater{}, &Service::last);
  }
};

}  // namespace

// Of a list: where it goes on, and what it holds so far.
struct Control::Page {
  HostFilter filter{};
  size_t rows_max = 0;
  size_t worker = 0;
  size_t place = 0;
  Json rows = Json::array();
};

std::span<const control::Command> command_list() { return kCommands; }

Control::Control(const assets::Config& own_config, control::Control::Config config,
                 std::vector<Observer*> states)
    : control::Control(std::move(config)),
      own_config_(own_config),
      states_(std::move(states)),
      time_(own_config.tick_microseconds, config_.is_replay),
      log_(own_config, states_, time_, config_.tell) {}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  if (request.command->name == "assets") return assets(request.parameters);
  const Result<Report> report = take_sample();
  if (!report) return report.error();
  return control::stats_or_workers_json(request.command->name, report.value(), workers());
}

Result<Json> Control::assets(const Json& parameters) {
  Page page;
  const auto filter = parse_host_filter(parameters);
  if (!filter) return filter.error();
  page.filter = filter.value();
  const auto limit = control::parse_number(parameters, "limit", 1, kRowsMax);
  if (!limit) return limit.error();
  page.rows_max = limit.value().value_or(kRowsDefault);
  const auto cursor = control::parse_cursor<2>(parameters, states_.size());
  if (!cursor) return cursor.error();
  page.worker = cursor.value()[0];
  page.place = cursor.value()[1];
  while (page.worker < states_.size() && page.rows.size() < page.rows_max) {
    if (auto error = fill(page)) return *error;
  }
  Json json = {{"rows", std::move(page.rows)}};
  if (parameters.value("lines", false)) json["lines"] = true;
  if (page.worker < states_.size()) json["cursor"] = fmt::format("{}.{}", page.worker, page.place);
  return json;
}

std::optional<Error> Control::fill(Page& page) {
  WalkRequest walk(*states_[page.worker], page.filter, page.place,
                   page.rows_max - page.rows.size());
  std::vector<node::Request*> posted(states_.size());
  posted[page.worker] = &walk;
  if (auto error = ask(posted)) return error;
  control::Requests<FindRequest> finds;
  for (Observer* state : states_) finds.add(*state, walk.copies);
  posted = finds.posted();
  posted[page.worker] = nullptr;
  if (states_.size() > 1) {
    if (auto error = ask(posted)) return error;
  }
  for (size_t i = 0; i < walk.copies.size(); ++i) {
    const std::span<const Service> services = walk.copies.services(i);
    Merged merged{walk.copies[i], {services.begin(), services.end()}};
    bool is_listed = false;
    for (size_t other = 0; other < states_.size(); ++other) {
      if (other == page.worker || finds[other].places[i] == FindRequest::kNone) continue;
      const HostCopies& found = finds[other].copies;
      const size_t at = finds[other].places[i];
      is_listed |= other < page.worker && page.filter.admits(found[at], found.services(at));
      merged.add(found[at], found.services(at));
    }
    if (!is_listed) page.rows.push_back(host_json(merged.host, merged.services, time_));
  }
  page.place = walk.place;
  if (walk.is_at_end) {
    ++page.worker;
    page.place = 0;
  }
  return {};
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) outcome.faults = refused_changes(own_config_, *outcome.config);
  if (!outcome.config || !outcome.faults.empty())
    return config::error_of(outcome.faults, config_.config_path);
  if (auto error = log_.reopen()) return *error;
  control::Requests<NetworksRequest> requests;
  for (Observer* state : states_) requests.add(*state, outcome.config->networks);
  const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
  if (auto error = asked.error(config_.function)) return *error;
  own_config_.networks = outcome.config->networks;
  return Json{{"networks", own_config_.networks.size()}};
}

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} networks", taken["networks"].get<size_t>());
}

Result<Report> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

Result<Report> Control::take_sample() {
  control::Requests<SampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i)
    requests.add(config_.workers[i], *states_[i], own_config_.mtus.size());
  if (auto error = ask(requests.posted())) return *error;
  Report report;
  for (const SampleRequest& request : requests) {
    control::add(request, report);
    add_counters<FrameCounters>(kFrameCounters, request.observed.frames, report.frames);
    add_counters<AssetCounters>(kAssetCounters, request.observed.assets, report.assets);
    add_counters<StockReport>(kStockCounters, request.observed.stock, report.stock);
  }
  complete(report);
  return report;
}

}  // namespace roost::assets
