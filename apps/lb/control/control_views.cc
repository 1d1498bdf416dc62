// What the control shows of the numbers: stats, services, backends, workers.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "apps/lb/control/control.h"
#include "apps/lb/takeover/takeover.h"
#include "roost/control/report_json.h"

namespace roost::lb {

namespace {

Json table_json(const TableSample& table, std::string_view family) {
  Json json = {{"family", family}};
  json.update(control::counters_json<TableSample>(kTableCounters, table));
  json["page_size"] = page_kind_name(table.page_kind);
  json["kernel"] = isa_name(table.isa);
  return json;
}

Json workers_json(std::span<const control::WorkerHandle> workers, const Control::Sample& sample) {
  Json all = control::running_workers_json(workers, sample.report);
  for (size_t i = 0; i < all.size(); ++i) {
    const Control::Sample::Worker& worker = sample.workers[i];
    all[i].update(control::counters_json<WorkerFlows>(kWorkerFlowCounters,
                                                      {worker.flows.created, worker.flows.held()}));
    all[i]["tables"] =
        Json::array({table_json(worker.tables[0], "ipv4"), table_json(worker.tables[1], "ipv6")});
  }
  return all;
}

std::string_view state_name(const BackendState& state, const RegisteredBackend& registered) {
  if (registered.use == Registration::kRemoved) return "removed";
  if (state.is_down) return "down";
  if (state.is_failing) return "failing";
  if (state.is_drained || state.is_drained_by_store) return "drained";
  const bool is_held_back = registered.weight == 0 && registered.configured_weight != 0;
  return is_held_back ? "standby" : "up";
}

}  // namespace

Result<Control::Sample> Control::take_sample() {
  control::Requests<SampleRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    requests.add(config_.workers[i], *states_[i], registry_, lb_config_.network.ports.size());
  }
  if (auto error = ask(requests.posted())) return *error;

  Sample sample;
  Report& report = sample.report;
  std::array<std::vector<BackendCounters>, 2> backends;
  for (size_t family = 0; family < 2; ++family) {
    backends[family].resize(registry_.families[family].backends.size());
  }
  for (const SampleRequest& request : requests) {
    control::add(request, report);
    report.flows += request.flows;
    report.fragments += request.fragments;
    add_counters<l3::ResetCounters>(l3::kResetCounters, request.resets, report.resets);
    report.forgotten += request.forgotten;
    for (size_t family = 0; family < 2; ++family) {
      for (size_t b = 0; b < backends[family].size(); ++b) {
        backends[family][b] += request.backends[family][b];
      }
      report.table_bytes += request.tables[family].bytes;
    }
    sample.workers.push_back({request.flows, request.tables});
  }
  complete(report);
  if (lb_config_.takeover) report.takeover = lb_config_.takeover->report();
  report.live = report.flows.held();
  const auto& tables = requests[0].tables;
  report.page_size = page_kind_name(tables[tables[0].bytes >= tables[1].bytes ? 0 : 1].page_kind);
  report.kernel = isa_name(tables[0].isa);

  report.services = report_services(
      registry_, [&](size_t family, uint32_t index) { return backends[family][index]; });
  sample.registry = registry_;
  sample.node = node_status();
  return sample;
}

Result<Json> Control::stats() {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  Json json = report_json(sample.value().report);
  json["reloads"] = control::reloads_json(sample.value().report);
  json["workers"] = workers_json(config_.workers, sample.value());
  return json;
}

Result<Json> Control::services() {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  return Json{{"services", services_json(sample.value().report)}};
}

Result<Json> Control::backends(const Json& parameters) {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  const std::string wanted = parameters.value("service", "");
  Json rows = Json::array();
  bool is_found = wanted.empty();
  for (const ServiceReport& service : sample.value().report.services) {
    if (!wanted.empty() && service.name != wanted) continue;
    is_found = true;
    for (const BackendReport& backend : service.backends) {
      const RegisteredBackend& registered =
          registry_.families[service.family].backends[backend.index];
      const BackendState& state = backend_states_[service.family][backend.index];
      Json row = {{"service", service.name},
                  {"name", backend.name},
                  {"endpoint", backend.endpoint},
                  {"state", state_name(state, registered)},
                  {"weight", registered.weight},
                  {"configured_weight", registered.configured_weight},
                  {"live_flows", backend.counters.live()}};
      row.update(
          control::counters_json<BackendCounters>(kReportedBackendCounters, backend.counters));
      row["failure"] = state.failure;
      rows.push_back(std::move(row));
    }
  }
  if (!is_found) return Error{"there is no service " + wanted};
  return Json{{"backends", std::move(rows)}};
}

Result<Json> Control::workers() {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  return Json{{"workers", workers_json(config_.workers, sample.value())}};
}

}  // namespace roost::lb
