#include "apps/classify/control/packet_classifier.h"

#include <fmt/format.h>

#include <string>

#include "roost/control/metrics.h"
#include "roost/openflow/flow_causes.h"

namespace roost::classifying {

std::string PacketClassifier::summary_of(const Config& config) {
  const std::string tracked = config.connections == 0
                                  ? "no connections tracked"
                                  : fmt::format("room for {} connections", config.connections);
  return fmt::format("{} ports, {} flows; {}; a tick of {:g} s.", config.ports.size(),
                     list_flows(config, 0)->flows.size(), tracked, config.tick_seconds());
}

node::RunConfig PacketClassifier::run_config(const Config& config) {
  std::vector<io::Port::Config> ports;
  for (const PortConfig& port : config.ports)
    ports.push_back({.mtu = port.mtu, .promiscuous = true});
  return node::run_config_of(config, "[classify]", std::move(ports));
}

std::optional<Error> PacketClassifier::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  config.shared = list_flows(config, plan.worker_count);
  return {};
}

trace::TraceWords PacketClassifier::trace_words() {
  return {"classifier", openflow::kFlowDropCauses, explanation};
}

control::MetricFamilies PacketClassifier::Running::metrics() {
  return sampled(kNames, openflow::kFlowDropCauses,
                 [](const Report& report, control::MetricList& out) {
                   out.add_counters<openflow::PipelineCounters>(
                       "pipeline", openflow::kPipelineCounters, report.work.pipeline);
                   out.add_counters<classify::ClassifierCounters>(
                       "lookups", classify::kClassifierCounters, report.work.classifiers);
                   for (const Counter<TablesReport>& one : kTablesReportCounters) {
                     out.gauge("tables_" + std::string(one.name), std::string(one.help) + ".")
                         .add({}, report.work.tables.*one.value);
                   }
                   if (report.tracks_connections)
                     control::add_tracker(report.work.tracker, "connections", out);
                 });
}

}  // namespace roost::classifying
