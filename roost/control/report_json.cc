#include "roost/control/report_json.h"

#include <string>
#include <utility>

namespace roost::control {

namespace {

Json running_worker_json(size_t number, unsigned core, const node::RunTotals& totals) {
  uint64_t received = 0;
  for (const node::PortTotals& port : totals.ports) received += port.received;
  Json a_packet = Json::object();
  for (const auto& [name, stage] : node::kStages) {
    const auto cycles = static_cast<double>(totals.cycles.*stage);
    a_packet[name] = received == 0 ? 0.0 : cycles / static_cast<double>(received);
  }
  return {{"worker", number},
          {"core", core},
          {"packets", received},
          {"batches", totals.batches},
          {"cycles", cycles_json(totals.cycles)},
          {"cycles_a_packet", std::move(a_packet)}};
}

}  // namespace

Json first_part_json(const RunReport& report, std::span<const net::DropCauseInfo> causes) {
  return {{"packets", packets_json(report)},
          {"drops", drops_json(report, causes)},
          {"icmp_errors_sent", icmp_errors_json(report)},
          {"echo_replies", report.echo_replies},
          {"neighbours", neighbours_json(report.neighbours)}};
}

Json last_part_json(const RunReport& report) {
  return {{"ports", ports_json(report)},
          {"captures", captures_json(report)},
          {"run", run_json(report)}};
}

Json packets_json(const RunReport& report) {
  return {{"received", report.received},
          {"received_bytes", report.received_bytes},
          {"sent", report.sent},
          {"sent_bytes", report.sent_bytes},
          {"originated", report.run.originated},
          {"replicated", report.run.replicated},
          {"consumed", report.run.consumed}};
}

Json drops_json(const RunReport& report, std::span<const net::DropCauseInfo> causes) {
  Json drops = Json::object();
  for (const net::DropCauseInfo& info : causes) {
    drops[std::string(info.name)] = report.run.drops[info.cause];
  }
  return drops;
}

Json icmp_errors_json(const RunReport& report) {
  return counters_json<l3::IcmpErrorCounters>(l3::kIcmpErrorCounters, report.icmp_errors);
}

Json neighbours_json(const NeighbourReport& report) {
  Json states = Json::object();
  for (size_t state = 0; state < l3::kNeighbourStateCount; ++state) {
    states[std::string(l3::kNeighbourStateNames[state])] = report.count_by_state[state];
  }
  Json json = {{"states", std::move(states)}};
  json.update(counters_json<l3::NeighbourCounters>(l3::kNeighbourCounters, report.counters));
  json["waiting"] = report.waiting;
  json["listener_queries"] = report.listener.queries;
  json["listener_reports"] = report.listener.reports;
  return json;
}

Json ports_json(const RunReport& report) {
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

Json captures_json(const RunReport& report) {
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

Json run_json(const RunReport& report) {
  return {{"seconds", report.run.seconds},
          {"batches", report.run.batches},
          {"cycles", cycles_json(report.run.cycles)}};
}

Json cycles_json(const node::StageCycles& cycles) {
  Json by_stage = Json::object();
  for (const auto& [name, stage] : node::kStages) by_stage[name] = cycles.*stage;
  return by_stage;
}

Json reloads_json(const RunReport& report) {
  return {{"taken", report.reloads}, {"refused", report.reloads_refused}};
}

std::string format_json(Json json, const RunReport& report,
                        const std::vector<std::string>& broken) {
  if (!json.contains("workers")) {
    Json workers = Json::array();
    for (const node::WorkerTotals& worker : report.run.workers) {
      workers.push_back(worker_json(worker));
    }
    json["workers"] = std::move(workers);
  }
  json["broken"] = broken;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json running_workers_json(std::span<const WorkerHandle> workers, const RunReport& report) {
  Json json = Json::array();
  for (size_t i = 0; i < workers.size(); ++i) {
    json.push_back(running_worker_json(i, workers[i].core, report.running[i]));
  }
  return json;
}

Json worker_json(const node::WorkerTotals& worker, const Json& own) {
  Json json = {{"received", worker.received},         {"sent", worker.sent},
               {"decided", worker.decided},           {"handoff_out", worker.handoff_out},
               {"handoff_full", worker.handoff_full}, {"handoff_in", worker.handoff_in},
               {"copies_in", worker.copies_in},       {"copies_lost", worker.copies_lost}};
  json.update(own);
  json["batches"] = worker.batches;
  json["cycles"] = cycles_json(worker.cycles);
  return json;
}

}  // namespace roost::control
