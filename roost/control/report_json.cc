#include "roost/control/report_json.h"

#include <cmath>
#include <string>
#include <utility>

namespace roost::control {

namespace {

// To a thousandth.
Json share_json(const node::TurnCounters& turns) {
  return std::round(1'000 * turns.cpu_share()) / 1'000;
}

Json running_worker_json(size_t number, unsigned core, const node::RunTotals& totals) {
  uint64_t received = 0;
  for (const node::PortTotals& port : totals.ports) received += port.received;
  Json a_packet = Json::object();
  for (const auto& [name, stage] : node::kStages) {
    const auto cycles = static_cast<double>(totals.cycles.*stage);
    a_packet[name] = received == 0 ? 0.0 : cycles / static_cast<double>(received);
  }
  Json json = {{"worker", number}, {"core", core}, {"packets", received}};
  json.update(counters_json<node::TurnCounters>(node::kTurnCounters, totals));
  json["cpu_share"] = share_json(totals);
  json["cycles"] = cycles_json(totals.cycles);
  json["cycles_a_packet"] = std::move(a_packet);
  return json;
}

}  // namespace

Json first_part_json(const RunReport& report, std::span<const net::DropCauseInfo> causes) {
  return {{"packets", packets_json(report)}, {"drops", drops_json(report, causes)}};
}

Json network_part_json(const RunReport& report) {
  Json json = {{"icmp_errors_sent", icmp_errors_json(report)}};
  json.update(counters_json<l3::LocalCounters>(l3::kLocalCounters, report));
  json["neighbours"] = neighbours_json(report.neighbours);
  return json;
}

Json last_part_json(const RunReport& report) {
  return {{"ports", ports_json(report)},
          {"captures", captures_json(report)},
          {"run", run_json(report)}};
}

Json packets_json(const RunReport& report) {
  Json json = counters_json<io::PortCounters>(kPacketCounters, report);
  json.update(counters_json<node::FrameCounters>(node::kFrameCounters, report.run));
  return json;
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
  json.update(counters_json<NeighbourReport>(kNeighbourReportCounters, report));
  json.update(counters_json<l3::ListenerCounters>(l3::kListenerCounters, report.listener));
  return json;
}

Json ports_json(const RunReport& report) {
  Json ports = Json::array();
  for (const node::PortTotals& port : report.run.ports) {
    Json one = {{"device", port.device}};
    one.update(counters_json<io::PortCounters>(io::kReportedPortCounters, port));
    one.update(counters_json<node::DeviceLosses>(node::kDeviceLosses, port));
    ports.push_back(std::move(one));
  }
  return ports;
}

Json captures_json(const RunReport& report) {
  Json captures = Json::array();
  for (const node::CaptureTotals& capture : report.run.captures) {
    Json one = {{"file", capture.path}};
    one.update(counters_json<node::CaptureTotals>(node::kCaptureCounters, capture));
    if (capture.cut_reason) one["cut"] = *capture.cut_reason;
    captures.push_back(std::move(one));
  }
  return captures;
}

Json run_json(const RunReport& report) {
  Json json = {{"seconds", report.run.seconds}};
  json.update(counters_json<node::TurnCounters>(node::kTurnCounters, report.run));
  json["cycles"] = cycles_json(report.run.cycles);
  const uint64_t cycles_per_second = report.run.cycles_per_second;
  if (cycles_per_second != 0) json["cycles_per_second"] = cycles_per_second;
  return json;
}

Json cycles_json(const node::StageCycles& cycles) {
  Json by_stage = Json::object();
  for (const auto& [name, stage] : node::kStages) by_stage[name] = cycles.*stage;
  return by_stage;
}

Json reloads_json(const RunReport& report) {
  return counters_json<ReloadCounters>(kReloadCounters, report.reloads);
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
  Json json = counters_json<node::WorkerTotals>(node::kWorkerCounters, worker);
  json.update(counters_json<io::HandoffCounters>(io::kReportedHandoffCounters, worker));
  json.update(own);
  json.update(counters_json<node::TurnCounters>(node::kTurnCounters, worker));
  json["cpu_share"] = share_json(worker);
  json["cycles"] = cycles_json(worker.cycles);
  return json;
}

}  // namespace roost::control
