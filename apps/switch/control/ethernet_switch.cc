#include "apps/switch/control/ethernet_switch.h"

#include <fmt/format.h>

#include <string>

#include "roost/bridge/switch_causes.h"
#include "roost/control/metrics.h"

namespace roost::switching {

std::string EthernetSwitch::summary_of(const Config& config) {
  return fmt::format("{} ports, {} static stations; room for {} stations; a tick of {:g} s.",
                     config.ports.size(), config.stations.size(), config.entries_max,
                     config.tick_seconds());
}

node::RunConfig EthernetSwitch::run_config(const Config& config) {
  std::vector<io::Port::Config> ports;
  for (const PortConfig& port : config.ports)
    ports.push_back({.mtu = port.mtu, .promiscuous = true});
  return node::run_config_of(config, "[switch]", std::move(ports));
}

std::optional<Error> EthernetSwitch::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  auto shared = Shared::create(config);
  if (!shared) return shared.error();
  config.shared = std::move(shared).value();
  return {};
}

trace::TraceWords EthernetSwitch::trace_words() {
  return {"switch", bridge::kSwitchDropCauses, explanation};
}

control::MetricFamilies EthernetSwitch::Running::metrics() {
  return sampled(
      kNames, bridge::kSwitchDropCauses, [](const Report& report, control::MetricList& out) {
        out.add_counters<bridge::SwitchCounters>("frames", bridge::kSwitchCounters, report.frames);
        out.add_counters<bridge::LearnCounters>("stations", bridge::kLearnCounters,
                                                report.learning);
        out.add_counters<bridge::FdbCounters>("fdb", bridge::kFdbCounters, report.fdb);
        out.gauge("fdb_entries", "Learned entries of the forwarding database, by port.");
        for (size_t port = 0; port < report.fdb.entries_of.size(); ++port) {
          out.add({{"port", std::to_string(port)}}, report.fdb.entries_of[port]);
        }
        out.gauge("fdb_static_entries", "Static entries of the forwarding database.")
            .add({}, report.fdb.static_entries);
        out.gauge("fdb_moving", "Addresses that moved lately.").add({}, report.fdb.moving);
      });
}

}  // namespace roost::switching
