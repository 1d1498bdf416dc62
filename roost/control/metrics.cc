#include "roost/control/metrics.h"

#include <fmt/format.h>

namespace roost::control {

MetricList& MetricList::add(Labels labels, uint64_t value) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  const auto number = static_cast<double>(value);
  if (families_.back().type == prometheus::MetricType::Counter) {
    metric.counter.value = number;
  } else {
    metric.gauge.value = number;
  }
  families_.back().metric.push_back(std::move(metric));
  return *this;
}

MetricList& MetricList::begin(std::string_view name, std::string_view help,
                              prometheus::MetricType type) {
  families_.push_back({prefix_ + std::string(name), std::string(help), type, {}});
  return *this;
}

void add_packets(const RunReport& report, std::span<const net::DropCauseInfo> causes,
                 std::string_view function, MetricList& out) {
  out.counter("received_packets_total", "Packets that ports delivered.").add({}, report.received);
  out.counter("received_bytes_total", "Bytes of whole frames received.")
      .add({}, report.received_bytes);
  out.counter("sent_packets_total", "Packets that devices took.").add({}, report.sent);
  out.counter("sent_bytes_total", "Bytes of whole frames sent.").add({}, report.sent_bytes);
  out.counter("originated_packets_total", fmt::format("Frames that the {} made itself.", function))
      .add({}, report.run.originated);
  out.counter("replicated_packets_total",
              "Packets beyond the first, of those that left by several ports.")
      .add({}, report.run.replicated);
  out.counter("consumed_packets_total",
              fmt::format("Packets that were for the {} itself.", function))
      .add({}, report.run.consumed);
  out.counter("dropped_packets_total", "Packets dropped, by cause.");
  for (const net::DropCauseInfo& info : causes) {
    out.add({{"cause", std::string(info.name)}}, report.run.drops[info.cause]);
  }
  out.counter("icmp_errors_sent_total",
              fmt::format("ICMP errors that the {} sent, by kind.", function));
  out.add_each<l3::IcmpErrorCounters>("kind", l3::kIcmpErrorsSent, report.icmp_errors);
  out.add_counters<l3::NeighbourCounters>("neighbours", l3::kNeighbourCounters,
                                          report.neighbours.counters);
}

void add_ports(const RunReport& report, std::string_view function, MetricList& out) {
  const auto each = [&](auto&& value_of) {
    for (size_t i = 0; i < report.run.ports.size(); ++i) {
      const node::PortTotals& port = report.run.ports[i];
      out.add({{"port", std::to_string(i)}, {"device", port.device}}, value_of(port));
    }
  };
  out.counter("port_received_packets_total", "Packets received, by port.");
  each([](const node::PortTotals& port) { return port.received + port.malformed; });
  out.counter("port_sent_packets_total", "Packets sent, by port.");
  each([](const node::PortTotals& port) { return port.sent; });
  out.counter("port_missed_packets_total",
              fmt::format("Packets that the device lost before the {}.", function));
  each([](const node::PortTotals& port) { return port.device_missed; });
  out.counter("port_errors_total", "Errors that the device reports.");
  each([](const node::PortTotals& port) { return port.device_errors; });
}

void add_reloads(const RunReport& report, MetricList& out) {
  out.counter("reloads_total", "Readings of the configuration, by outcome.")
      .add({{"outcome", "taken"}}, report.reloads)
      .add({{"outcome", "refused"}}, report.reloads_refused);
}

void add_stages(std::span<const node::RunTotals> workers, MetricList& out) {
  out.counter("worker_batches_total", "Batches that held a packet.");
  for (size_t i = 0; i < workers.size(); ++i) {
    out.add({{"worker", std::to_string(i)}}, workers[i].batches);
  }
  out.counter("worker_cycles_total", "Cycles of the processor for batches with packets, by stage.");
  for (size_t i = 0; i < workers.size(); ++i) {
    for (const auto& [name, stage] : node::kStages) {
      out.add({{"worker", std::to_string(i)}, {"stage", std::string(name)}},
              workers[i].cycles.*stage);
    }
  }
}

}  // namespace roost::control
