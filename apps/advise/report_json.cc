// An advice as JSON, for programs.
#include "apps/advise/report.h"
#include "apps/advise/survey_report.h"
#include "roost/control/json.h"

namespace roost::advise {
namespace {

using control::Json;

Json cost_json(const Cost& cost, uint32_t cores_needed) {
  return {{"ns", cost.packet_ns()},
          {"datapath_ns", cost.datapath_ns()},
          {"state_ns", cost.state_ns},
          {"parsing_ns", cost.parsing_ns},
          {"ports_ns", cost.ports_ns},
          {"packets_per_second_of_core", cost.packets_per_second()},
          {"cores_needed", cores_needed},
          {"records", cost.records},
          {"is_measured_range", cost.outside.empty()},
          {"outside", cost.outside}};
}

Json asked_json(const Workload& workload) {
  return {{"connections", workload.connections},
          {"new_per_second", workload.new_per_second},
          {"packets_per_second", workload.packets_per_second},
          {"cores", workload.cores},
          {"ipv4", workload.has_ipv4()},
          {"ipv6", workload.has_ipv6()},
          {"mode", lb::mode_name(workload.mode)},
          {"udp_share", workload.udp_share},
          {"silent_share", workload.silent_share}};
}

Json measured_json(const Measurement& measured) {
  return {{"datapath_ns", measured.datapath_ns},
          {"least_ns", measured.least_ns},
          {"greatest_ns", measured.greatest_ns},
          {"packets_each", measured.packets_each},
          {"live", measured.live},
          {"begun_per_second", measured.begun_per_second},
          {"warm_up_packets", measured.warm_up_packets},
          {"lost", measured.lost}};
}

}  // namespace

std::string format_json(const Advice& advice, const Findings& findings) {
  const Sizing& sizing = advice.sizing;
  Json json;
  if (findings.survey != nullptr) json["survey"] = survey_json(*findings.survey);
  if (findings.measurement != nullptr) json["measured"] = measured_json(*findings.measurement);
  json["asked"] = asked_json(advice.workload);
  if (advice.workload.has_ipv4()) json["table"]["ipv4"] = layout_name(false);
  if (advice.workload.has_ipv6()) json["table"]["ipv6"] = layout_name(true);
  json["sharing"] = {{"tables", "one a worker"}, {"record", kSharingRecord}};
  json["expiry"] = {{"kind", "slot timers"}, {"record", kExpiryRecord}};
  json["held"] = sizing.held;
  json["connections"] = sizing.connections;
  json["slots"] = sizing.slots;
  json["load"] = sizing.load;
  json["tick_seconds"] = sizing.tick_seconds;
  for (size_t i = 0; i < kTimeoutCount; ++i)
    json["timeouts"][std::string(conntrack::kTcpUdpTimeouts[i].name)] = advice.timeouts[i];
  json["bytes"] = sizing.bytes;
  json["bytes_of_worker"] = {{"ipv4", sizing.family_bytes[0]}, {"ipv6", sizing.family_bytes[1]}};
  json["memory_there"] = advice.memory_there ? Json(*advice.memory_there) : Json();
  json["fits"] = advice.fits();
  json["packet"] =
      advice.cost ? cost_json(*advice.cost, advice.cores_needed().value_or(1)) : Json();
  json["no_packet_cost"] = advice.no_cost;
  json["toml"] = format_toml(advice);
  return json.dump(2);
}

}  // namespace roost::advise
