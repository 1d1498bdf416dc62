#include "apps/lb/control/metrics.h"

#include <string>
#include <vector>

#include "roost/control/metrics.h"

namespace roost::lb {

namespace {

void add_flows(const Report& report, control::MetricList& out) {
  out.add_families<FlowCounts>(kFlowsCreated,
                               [&](auto&& value_of) { out.add({}, value_of(report.flows)); });
  out.counter("flows_over_total", "Connections that are over, by the way they ended.");
  out.add_each<FlowCounts>("end", kFlowsOver, report.flows);
  out.gauge("flows_live", "Live connections; one that expired counts for 5 s more at most.")
      .add({}, report.live);
  out.add_counters<conntrack::FragmentCounters>("fragments", conntrack::kFragmentCounters,
                                                report.fragments.counters);
  out.add_counters<l3::ResetCounters>("resets", l3::kResetCounters, report.resets);
  out.gauge("takeover_pause_microseconds",
            "How long no packet was decided when this process took over; 0 if it did not, or from "
            "one that had ended.")
      .add({}, report.takeover.pause_microseconds);
}

// Those that the configuration names: labels must be unique.
void add_backends(const Control::Sample& sample, control::MetricList& out) {
  const auto each = [&](auto&& value_of) {
    for (const ServiceReport& service : sample.report.services) {
      for (const BackendReport& backend : service.backends) {
        if (backend.is_removed) continue;
        const uint32_t weight =
            sample.registry.families[service.family].backends[backend.index].weight;
        out.add({{"service", service.name}, {"backend", backend.name}},
                value_of(backend.counters, weight));
      }
    }
  };
  out.add_families<BackendCounters>(kBackendCounters, [&](auto&& value_of) {
    each([&](const BackendCounters& counters, uint32_t) { return value_of(counters); });
  });
  out.gauge(
      "backend_flows_live",
      "Live connections, by service and backend; one that expired counts for 5 s more at most.");
  each([](const BackendCounters& counters, uint32_t) { return counters.live(); });
  out.gauge("backend_weight", "Share of new connections; 0: it gets none.");
  each([](const BackendCounters&, uint32_t weight) { return uint64_t{weight}; });
}

void add_reloads(const Control::Sample& sample, control::MetricList& out) {
  control::add_reloads(sample.report, out);
  uint64_t live = 0;
  for (const ServiceReport& service : sample.report.services) {
    for (const BackendReport& backend : service.backends) {
      if (backend.is_removed) live += backend.counters.live();
    }
  }
  out.gauge("removed_backend_flows_live",
            "Connections of backends that the configuration names no more.")
      .add({}, live);
}

void add_node(const NodeStatus& node, control::MetricList& out) {
  if (node.announces) {
    out.gauge("node_serving", "1 unless the node is drained or stops.")
        .add({}, node.state == NodeState::kServing ? 1 : 0);
    out.gauge("address_announced", "1 while routers are told of this virtual address.");
    for (const NodeStatus::Address& one : node.addresses) {
      out.add({{"address", one.address.format()}}, one.is_announced ? 1 : 0);
    }
  }
  if (!node.store.is_configured) return;
  out.gauge("etcd_reachable", "0 while etcd cannot be read: its latest settings stay in force.")
      .add({}, node.store.is_heard && node.store.away.empty() ? 1 : 0);
  out.gauge("etcd_faults", "Keys for which etcd's latest settings were refused.")
      .add({}, node.store.faults.size());
  out.gauge("etcd_revision", "Of the settings in force; 0: none was taken.")
      .add({}, static_cast<uint64_t>(node.store.revision.value_or(0)));
}

void add_workers(const Control::Sample& sample, control::MetricList& out) {
  control::add_stages(sample.report.running, out);
  const auto each_table = [&](auto&& value_of) {
    for (size_t i = 0; i < sample.workers.size(); ++i) {
      for (size_t family = 0; family < 2; ++family) {
        out.add({{"worker", std::to_string(i)}, {"family", family == 0 ? "ipv4" : "ipv6"}},
                value_of(sample.workers[i].tables[family]));
      }
    }
  };
  out.add_families<TableSample>(kTableCounters, each_table, prometheus::MetricType::Gauge);
}

}  // namespace

control::MetricFamilies metric_families(const Result<Control::Sample>& sample) {
  control::MetricList out("roost_lb_", "balancer");
  control::add_answer(sample.ok(), out);
  if (sample) {
    control::add_packets(sample.value().report, kDropCauses, out);
    control::add_network(sample.value().report, out);
    add_flows(sample.value().report, out);
    control::add_ports(sample.value().report, out);
    add_backends(sample.value(), out);
    add_reloads(sample.value(), out);
    add_node(sample.value().node, out);
    add_workers(sample.value(), out);
  }
  return out.take();
}

}  // namespace roost::lb
