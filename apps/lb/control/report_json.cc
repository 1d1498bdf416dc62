// The report as machines read it. The names of its fields are an interface: README.md lists them.
#include "apps/lb/control/report_json.h"

namespace roost::lb {

namespace {

using Json = nlohmann::ordered_json;

Json ports_json(const Report& report) {
  Json ports = Json::array();
  for (const node::PortTotals& port : report.run.ports) {
    ports.push_back({{"device", port.device},
                     {"received", port.received + port.malformed},
                     {"received_bytes", port.received_bytes},
                     {"sent", port.sent},
                     {"sent_bytes", port.sent_bytes},
                     {"refused", port.refused},
                     {"no_buffer", port.no_buffer},
                     {"device_missed", port.device_missed},
                     {"device_errors", port.device_errors}});
  }
  return ports;
}

Json captures_json(const Report& report) {
  Json captures = Json::array();
  for (const node::CaptureTotals& capture : report.run.captures) {
    Json one = {{"file", capture.path},
                {"packets", capture.packets},
                {"delivered", capture.delivered},
                {"lost", capture.lost},
                {"missing", capture.missing}};
    if (capture.cut_reason) one["cut"] = *capture.cut_reason;
    captures.push_back(std::move(one));
  }
  return captures;
}

Json drops_json(const Report& report) {
  Json drops = Json::object();
  for (const net::DropCauseInfo& info : kDropCauses) {
    drops[std::string(info.name)] = report.run.drops[info.cause];
  }
  return drops;
}

Json neighbours_json(const NeighbourReport& report) {
  Json states = Json::object();
  for (size_t state = 0; state < l3::kNeighbourStateCount; ++state) {
    states[std::string(l3::kNeighbourStateNames[state])] = report.count_by_state[state];
  }
  Json json = {{"states", std::move(states)}};
  for (const l3::NamedNeighbourCounter& one : l3::kNeighbourCounters) {
    json[std::string(one.name)] = report.counters.*one.counter;
  }
  json["waiting"] = report.waiting;
  json["listener_queries"] = report.listener.queries;
  json["listener_reports"] = report.listener.reports;
  return json;
}

Json workers_json(const Report& report) {
  Json workers = Json::array();
  for (size_t i = 0; i < report.run.workers.size(); ++i) {
    const node::WorkerTotals& worker = report.run.workers[i];
    const Report::WorkerFlows& flows = report.worker_flows[i];
    workers.push_back({{"received", worker.received},
                       {"sent", worker.sent},
                       {"decided", worker.decided},
                       {"given", worker.given},
                       {"refused", worker.refused},
                       {"taken", worker.taken},
                       {"copies_taken", worker.copies_taken},
                       {"copies_lost", worker.copies_lost},
                       {"flows_made", flows.made},
                       {"flows_live", flows.live},
                       {"batches", worker.batches},
                       {"cycles", cycles_json(worker.cycles)}});
  }
  return workers;
}

}  // namespace

Json cycles_json(const node::StageCycles& cycles) {
  Json by_stage = Json::object();
  for (const auto& [name, stage] : node::kStages) by_stage[name] = cycles.*stage;
  return by_stage;
}

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
  return {{"packets",
           {{"received", report.received},
            {"received_bytes", report.received_bytes},
            {"sent", report.sent},
            {"sent_bytes", report.sent_bytes},
            {"originated", report.run.originated},
            {"consumed", report.run.consumed}}},
          {"flows",
           {{"made", report.flows.made},
            {"live", report.live},
            {"ended", report.flows.ended},
            {"expired", report.flows.expired},
            {"deleted", report.flows.deleted},
            {"evicted", report.flows.evicted}}},
          {"drops", drops_json(report)},
          {"fragments",
           {{"followed", report.fragments.counters.followed},
            {"waited", report.fragments.counters.waited},
            {"released", report.fragments.counters.released},
            {"expired", report.fragments.counters.expired},
            {"waiting", report.fragments.waiting},
            {"dropped", report.fragments.dropped}}},
          {"icmp_errors_sent",
           {{"too_big", report.icmp_answers.too_big},
            {"time_exceeded", report.icmp_answers.time_exceeded},
            {"limited", report.icmp_answers.limited},
            {"unsendable", report.icmp_answers.unsendable}}},
          {"echo_replies", report.echo_replies},
          {"neighbours", neighbours_json(report.neighbours)},
          {"services", services_json(report)},
          {"forgotten_backends",
           {{"flows", report.forgotten.flows},
            {"packets", report.forgotten.packets},
            {"bytes", report.forgotten.bytes}}},
          {"ports", ports_json(report)},
          {"captures", captures_json(report)},
          {"run",
           {{"seconds", report.run.seconds},
            {"batches", report.run.batches},
            {"cycles", cycles_json(report.run.cycles)}}},
          {"tables",
           {{"bytes", report.table_bytes},
            {"page_size", report.page_size},
            {"kernel", report.kernel}}}};
}

std::string format_json(const Report& report) {
  Json json = report_json(report);
  json["workers"] = workers_json(report);
  json["broken"] = broken_sums(report);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace roost::lb
