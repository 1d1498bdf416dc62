#include "apps/lb/control/command_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "roost/control/common_commands.h"
#include "roost/control/view.h"

namespace roost::lb {

using control::View;

namespace {

constexpr Parameter kService = {.name = "service", .help = "only this service"};
constexpr Parameter kBackend = {.name = "backend", .help = "only backends of this name"};

constexpr std::array<Parameter, 1> kBackendsParameters = {kService};

constexpr std::array<Parameter, 9> kFlowsParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "list count delete",
      .help = "list them (the default), count them by class, service, backend and state, or delete "
              "them"},
     kService,
     kBackend,
     {.name = "client", .help = "only clients in this prefix: 192.0.2.0/24, or an address"},
     {.name = "state",
      .choices = "syn_sent syn_received established client_finished server_finished closed udp",
      .help = "only connections in this state"},
     {.name = "class",
      .choices = "unreplied seen_reply assured closed",
      .help = "only connections of this class; all but assured ones may be evicted"},
     {.name = "limit",
      .kind = ParameterKind::kNumber,
      .help = "at most so many a page, 8 to 1000 (100)"},
     {.name = "cursor", .help = "go on where the page before ended"},
     {.name = "all", .kind = ParameterKind::kFlag, .help = "with delete: without any filter"}}};

constexpr std::array<Parameter, 2> kTimeoutsParameters = {
    {{.name = "name",
      .is_positional = true,
      .choices = "tcp_syn tcp_established tcp_closing tcp_closed udp",
      .help = "the timeout to change"},
     {.name = "seconds",
      .kind = ParameterKind::kNumber,
      .is_positional = true,
      .help = "what it is to be; connections get it from their next packet on"}}};

constexpr std::array<Parameter, 3> kBackendParameters = {
    {{.name = "action",
      .is_positional = true,
      .is_required = true,
      .choices = "up down drain",
      .help = "up: its weight is the configuration's again; down, drain: no new connections, those "
              "that are there stay"},
     {.name = "name", .is_positional = true, .is_required = true, .help = "the backend"},
     {.name = "service", .help = "only in this service, else in all that have it"}}};

void add_worker_tables(const Json& result, View& view) {
  control::add_workers(result["workers"], {"flows_created", "flows_live"},
                       {"worker", "family", "used", "capacity", "bytes", "page_size", "kernel"},
                       view);
}

Json workers_view(const Json& result) {
  View view;
  add_worker_tables(result, view);
  return view.take();
}

Json stats_view(const Json& result) {
  View view;
  control::add_packets_and_drops(
      result, [&] { view.text("flows").list("/flows"); }, view);
  view.text("");
  add_worker_tables(result, view);
  return view.take();
}

Json services_view(const Json& result) {
  View view;
  size_t i = 0;
  for (const Json& service : result["services"]) {
    if (i != 0) view.text("");
    view.text(fmt::format(
        "{} {} {} {}", service["name"].get<std::string>(), service["endpoint"].get<std::string>(),
        service["protocol"].get<std::string>(), service["mode"].get<std::string>()));
    view.table(fmt::format("/services/{}/backends", i++),
               {"name", "endpoint", "flows", "packets", "bytes"});
  }
  return view.take();
}

Json backends_view(const Json&) {
  return View()
      .table("/backends", {"service", "name", "endpoint", "state", "weight", "configured_weight",
                           "live_flows", "flows", "packets", "bytes"})
      .take();
}

Json backend_view(const Json&) {
  return View().table("/changed", {"service", "name", "weight"}).take();
}

Json timeouts_view(const Json&) {
  return View().text("timeouts, in seconds").list("/timeouts").take();
}

Json flows_view(const Json& result) {
  View view;
  if (result.contains("deleted")) {
    return view.text(fmt::format("{} deleted", result["deleted"].get<uint64_t>())).take();
  }
  if (result.contains("by")) {
    view.table("/by", {"service", "backend", "state", "flows"});
    view.text(fmt::format("{} in all", result["flows"].get<uint64_t>())).list("/classes");
    return view.take();
  }
  View::Columns columns = {"service",  "protocol", "client", "virtual", "backend",
                           "endpoint", "state",    "class",  "worker"};
  const bool has_local =
      std::ranges::any_of(result["flows"], [](const Json& flow) { return flow.contains("local"); });
  if (has_local) columns.insert(columns.begin() + 4, "local");
  view.table("/flows", columns);
  if (result.contains("cursor")) {
    view.text("there are more: --cursor " + result["cursor"].get<std::string>());
  }
  return view.take();
}

constexpr std::array kCommands = {
    Command{.name = "stats",
            .help = "packets, flows, drops by cause, tables, and cycles by worker",
            .view = stats_view,
            .is_in_telemetry = true},
    Command{.name = "services",
            .help = "the services, and what each of their backends carried",
            .view = services_view,
            .is_in_telemetry = true},
    Command{.name = "backends",
            .help = "the backends with their weights, states and live flows",
            .parameters = kBackendsParameters,
            .view = backends_view,
            .is_in_telemetry = true},
    Command{.name = "backend",
            .help = "take a backend out of service, or put it back",
            .parameters = kBackendParameters,
            .view = backend_view},
    Command{.name = "flows",
            .help = "the connections: listed by pages, counted, or deleted",
            .parameters = kFlowsParameters,
            .view = flows_view},
    control::kNeighboursCommand,
    control::kAnnounceCommand,
    Command{.name = "timeouts",
            .help = "the timeouts; with a name and seconds, change one",
            .parameters = kTimeoutsParameters,
            .view = timeouts_view,
            .is_in_telemetry = true},
    control::kTraceCommand,
    control::kReloadCommand,
    Command{.name = "workers",
            .help = "what each worker does, and with how many cycles",
            .view = workers_view,
            .is_in_telemetry = true},
    control::kVersionCommand};

}  // namespace

std::span<const Command> command_list() { return kCommands; }

}  // namespace roost::lb
