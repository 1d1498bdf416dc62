#include "apps/lb/control/command_list.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "apps/lb/control/control_requests.h"
#include "roost/control/common_commands.h"
#include "roost/control/connection_commands.h"
#include "roost/control/view.h"

namespace roost::lb {

using control::View;

namespace {

constexpr Parameter kService = {.name = "service", .help = "only this service"};
constexpr Parameter kBackend = {.name = "backend", .help = "only backends of this name"};

constexpr std::array<Parameter, 1> kBackendsParameters = {kService};

constexpr auto kFlowsParameters = control::with_connection_parameters(std::array{
    Parameter{.name = "action",
              .is_positional = true,
              .choices = "list count delete",
              .help = "list them (the default), count them by class, service, backend and state, "
                      "or delete them"},
    kService, kBackend});

constexpr std::array<Parameter, 2> kTimeoutsParameters = {
    {{.name = "name",
      .is_positional = true,
      .choices = "tcp_syn tcp_established tcp_closing tcp_closed udp",
      .help = "the timeout to change"},
     {.name = "seconds",
      .kind = ParameterKind::kNumber,
      .is_positional = true,
      .help = "what it is to be; connections get it from their next packet on"}}};

constexpr std::array<Parameter, 1> kNodeParameters = {
    {{.name = "action",
      .is_positional = true,
      .choices = "up drain",
      .help =
          "drain: its virtual addresses are withdrawn, and it goes on with what comes; up: they "
          "are announced again"}}};

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
  View::Columns table_columns =
      control::with_counters<TableSample>({"worker", "family"}, kTableCounters);
  table_columns.insert(table_columns.end(), {"page_size", "kernel"});
  control::add_workers(result["workers"],
                       control::with_counters<WorkerFlows>({}, kWorkerFlowCounters), table_columns,
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
    view.table(
        fmt::format("/services/{}/backends", i++),
        control::with_counters<BackendCounters>({"name", "endpoint"}, kReportedBackendCounters));
  }
  return view.take();
}

Json backends_view(const Json& result) {
  View view;
  view.table("/backends",
             control::with_counters<BackendCounters>({"service", "name", "endpoint", "state",
                                                      "weight", "configured_weight", "live_flows"},
                                                     kReportedBackendCounters));
  for (const Json& row : result["backends"]) {
    const std::string failure = row["failure"].get<std::string>();
    if (failure.empty()) continue;
    view.text(fmt::format("{} of {} fails its checks: {}", row["name"].get<std::string>(),
                          row["service"].get<std::string>(), failure));
  }
  return view.take();
}

Json backend_view(const Json&) {
  return View().table("/changed", {"service", "name", "weight"}).take();
}

Json node_view(const Json& result) {
  View view;
  view.text("the node is " + result["node"].get<std::string>());
  const std::string failure = result["failure"].get<std::string>();
  if (!failure.empty()) view.text(failure);
  view.table("/addresses", {"address", "state", "reason"});
  const Json& etcd = result["etcd"];
  const std::string state = etcd["state"].get<std::string>();
  if (state == "none") return view.take();
  // Settings without a revision were adopted from the process before.
  std::string in_force =
      result["settings"].empty() ? "nothing of it was taken" : "settings in force were adopted";
  if (const Json& revision = etcd["revision"]; !revision.is_null()) {
    in_force = fmt::format("settings in force are of revision {}", revision.get<int64_t>());
  }
  view.text("").text(fmt::format("etcd is {}; {}", state, in_force));
  const std::string away = etcd["away"].get<std::string>();
  if (!away.empty()) view.text(away);
  for (const Json& fault : etcd["faults"]) view.text(fault.get<std::string>());
  view.table("/settings", {"service", "backend", "weight", "drain"});
  return view.take();
}

Json timeouts_view(const Json& result) {
  View view;
  view.text("timeouts, in seconds").list("/timeouts");
  size_t i = 0;
  for (const Json& service : result["services"]) {
    view.text(fmt::format("of {}", service["service"].get<std::string>()))
        .list(fmt::format("/services/{}/timeouts", i++));
  }
  return view.take();
}

Json flows_view(const Json& result) {
  return control::connections_view(result,
                                   {"service", "protocol", "client", "virtual", "local", "backend",
                                    "endpoint", "state", "class", "worker"},
                                   {"service", "backend", "state", "flows"});
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
    Command{.name = "node",
            .help = "which virtual addresses routers are told of, and what etcd says; or drain the "
                    "node, or put it back",
            .parameters = kNodeParameters,
            .view = node_view},
    control::kNeighboursCommand,
    control::kAnnounceCommand,
    Command{.name = "timeouts",
            .help = "the timeouts, and those of services; with a name and seconds, change one",
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
