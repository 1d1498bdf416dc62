// The report as machines read it. The names of its fields are an interface: README.md lists them.
#include "roost/control/report_json.h"

#include <utility>

#include "apps/lb/control/report.h"

namespace roost::lb {

using control::Json;

namespace {

Json flows_json(const Report& report) {
  Json json = {{"created", report.flows.created}, {"live", report.live}};
  json.update(
      control::counters_json<FlowCounts>(std::span(kFlowCounters).subspan<1>(), report.flows));
  return json;
}

Json fragments_json(const conntrack::FragmentReport& fragments) {
  Json json = control::counters_json<conntrack::FragmentCounters>(conntrack::kFragmentCounters,
                                                                  fragments.counters);
  json["waiting"] = fragments.waiting;
  json["dropped"] = fragments.dropped;
  return json;
}

Json workers_json(const Report& report) {
  Json workers = Json::array();
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    const Report::WorkerFlows& flows = report.worker_flows[i];
    workers.push_back(control::worker_json(
        report.run.workers[i], {{"flows_created", flows.created}, {"flows_live", flows.live}}));
  }
  return workers;
}

}  // namespace

Json services_json(const Report& report) {
  Json services = Json::array();
  for (const ServiceReport& service : report.services) {
    Json backends = Json::array();
    for (const BackendReport& backend : service.backends) {
      backends.push_back({{"name", backend.name},
                          {"endpoint", backend.endpoint},
                          {"flows", backend.counters.flows},
                          {"packets", backend.counters.packets},
                          {"bytes", backend.counters.bytes}});
      if (backend.is_removed) backends.back()["removed"] = true;
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
  return {{"packets", control::packets_json(report)},
          {"flows", flows_json(report)},
          {"drops", control::drops_json(report, kDropCauses)},
          {"fragments", fragments_json(report.fragments)},
          {"icmp_errors_sent", control::icmp_errors_json(report)},
          {"echo_replies", report.echo_replies},
          {"neighbours", control::neighbours_json(report.neighbours)},
          {"services", services_json(report)},
          {"forgotten_backends",
           {{"flows", report.forgotten.flows},
            {"packets", report.forgotten.packets},
            {"bytes", report.forgotten.bytes}}},
          {"ports", control::ports_json(report)},
          {"captures", control::captures_json(report)},
          {"run", control::run_json(report)},
          {"tables",
           {{"bytes", report.table_bytes},
            {"page_size", report.page_size},
            {"kernel", report.kernel}}}};
}

std::string format_json(const Report& report) {
  Json json = report_json(report);
  json["workers"] = workers_json(report);
  return control::format_json(std::move(json), report, broken_sums(report));
}

}  // namespace roost::lb
