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
  families_.push_back(
      {prefix_ + std::string(name), fmt::format(fmt::runtime(help), function_), type, {}});
  return *this;
}

// As a sentence.
void MetricList::begin_named(std::string_view metric, std::string_view help,
                             prometheus::MetricType type) {
  const bool is_counter = type == prometheus::MetricType::Counter;
  begin(std::string(metric) + (is_counter ? "_total" : ""), std::string(help) + ".", type);
  char& first = families_.back().help.front();
  if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
}

void add_answer(bool workers_answered, MetricList& out) {
  out.gauge("workers_answer", "1 when the workers answered, and only then there is more.")
      .add({}, workers_answered ? 1 : 0);
}

void add_packets(const RunReport& report, std::span<const net::DropCauseInfo> causes,
                 MetricList& out) {
  out.add_families<io::PortCounters>(kPacketCounters,
                                     [&](auto&& value_of) { out.add({}, value_of(report)); });
  out.add_families<node::FrameCounters>(
      node::kFrameCounters, [&](auto&& value_of) { out.add({}, value_of(report.run)); });
  out.counter("dropped_packets_total", "Packets dropped, by cause.");
  for (const net::DropCauseInfo& info : causes) {
    out.add({{"cause", std::string(info.name)}}, report.run.drops[info.cause]);
  }
}

void add_network(const RunReport& report, MetricList& out) {
  out.counter("icmp_errors_sent_total", "ICMP errors that the {} sent, by kind.");
  out.add_each<l3::IcmpErrorCounters>("kind", l3::kIcmpErrorsSent, report.icmp_errors);
  out.add_counters<l3::NeighbourCounters>("neighbours", l3::kNeighbourCounters,
                                          report.neighbours.counters);
}

void add_ports(const RunReport& report, MetricList& out) {
  const auto each = [&](auto&& value_of) {
    for (size_t i = 0; i < report.run.ports.size(); ++i) {
      const node::PortTotals& port = report.run.ports[i];
      out.add({{"port", std::to_string(i)}, {"device", port.device}}, value_of(port));
    }
  };
  out.add_families<io::PortCounters>(io::kPortCounters, each);
  out.add_families<node::DeviceLosses>(node::kDeviceLosses, each);
}

void add_reloads(const RunReport& report, MetricList& out) {
  out.counter("reloads_total", "Readings of the configuration, by outcome.");
  out.add_each<ReloadCounters>("outcome", kReloadCounters, report.reloads);
}

void add_stages(std::span<const node::RunTotals> workers, MetricList& out) {
  out.add_families<node::TurnCounters>(node::kTurnCounters, [&](auto&& value_of) {
    for (size_t i = 0; i < workers.size(); ++i) {
      out.add({{"worker", std::to_string(i)}}, value_of(workers[i]));
    }
  });
  out.counter("worker_cycles_total", "Cycles of the processor for batches with packets, by stage.");
  for (size_t i = 0; i < workers.size(); ++i) {
    for (const auto& [name, stage] : node::kStages) {
      out.add({{"worker", std::to_string(i)}, {"stage", std::string(name)}},
              workers[i].cycles.*stage);
    }
  }
}

}  // namespace roost::control
