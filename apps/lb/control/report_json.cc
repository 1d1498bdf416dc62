// The report as machines read it. The names of its fields are an interface: README.md lists them.
#include "roost/control/report_json.h"

#include <utility>

#include "apps/lb/control/report.h"

namespace roost::lb {

using control::Json;

namespace {

Json flows_json(const Report& report) {
  Json json = control::counters_json<FlowCounts>(kFlowsCreated, report.flows);
  json["live"] = report.live;
  json.update(control::counters_json<FlowCounts>(kFlowsOver, report.flows));
  return json;
}

Json fragments_json(const conntrack::FragmentReport& fragments) {
  Json json = control::counters_json<conntrack::FragmentCounters>(conntrack::kFragmentCounters,
                                                                  fragments.counters);
  json.update(control::counters_json<conntrack::FragmentReport>(conntrack::kFragmentReportCounters,
                                                                fragments));
  return json;
}

Json workers_json(const Report& report) {
  Json workers = Json::array();
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    workers.push_back(control::worker_json(
        report.run.workers[i],
        control::counters_json<WorkerFlows>(kWorkerFlowCounters, report.worker_flows[i])));
  }
  return workers;
}

}  // namespace

Json services_json(const Report& report) {
  Json services = Json::array();
  for (const ServiceReport& service : report.services) {
    Json backends = Json::array();
    for (const BackendReport& backend : service.backends) {
      Json one = {{"name", backend.name}, {"endpoint", backend.endpoint}};
      one.update(
          control::counters_json<BackendCounters>(kReportedBackendCounters, backend.counters));
      if (backend.is_removed) one["removed"] = true;
      backends.push_back(std::move(one));
    }
    services.push_back({{"name", service.name},
                        {"endpoint", service.endpoint},
                        {"protocol", service.protocol},
                        {"mode", service.mode},
                        {"backends", std::move(backends)}});
    if (service.is_removed) services.back()["removed"] = true;
  }
  return services;
}

Json report_json(const Report& report) {
  Json json = {
      {"packets", control::packets_json(report)},
      {"flows", flows_json(report)},
      {"drops", control::drops_json(report, kDropCauses)},
      {"fragments", fragments_json(report.fragments)},
      {"icmp_errors_sent", control::icmp_errors_json(report)},
      {"resets", control::counters_json<l3::ResetCounters>(l3::kResetCounters, report.resets)}};
  json["takeover"] = control::counters_json<TakeoverReport>(kTakeoverCounters, report.takeover);
  json.update(control::counters_json<l3::LocalCounters>(l3::kLocalCounters, report));
  json["neighbours"] = control::neighbours_json(report.neighbours);
  json["services"] = services_json(report);
  json["forgotten_backends"] =
      control::counters_json<BackendCounters>(kReportedBackendCounters, report.forgotten);
  json.update(control::last_part_json(report));
  json["tables"] = {
      {"bytes", report.table_bytes}, {"page_size", report.page_size}, {"kernel", report.kernel}};
  return json;
}

std::string format_json(const Report& report) {
  Json json = report_json(report);
  json["workers"] = workers_json(report);
  return control::format_json(std::move(json), report, broken_sums(report));
}

}  // namespace roost::lb
