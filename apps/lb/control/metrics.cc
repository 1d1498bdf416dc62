#include "apps/lb/control/metrics.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::lb {

namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

constexpr const char* kPrefix = "roost_lb_";

// Families in the order in which they are begun.
class Collection {
 public:
  Collection& counter(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Counter);
  }
  Collection& gauge(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Gauge);
  }
  // A value of the family begun last.
  Collection& add(Labels labels, uint64_t value) {
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
  control::MetricFamilies take() { return std::move(families_); }

 private:
  Collection& begin(std::string_view name, std::string_view help, prometheus::MetricType type) {
    families_.push_back({kPrefix + std::string(name), std::string(help), type, {}});
    return *this;
  }
  control::MetricFamilies families_;
};

void add_totals(const Report& report, Collection& out) {
  out.counter("received_packets_total", "Packets that ports delivered.").add({}, report.received);
  out.counter("received_bytes_total", "Bytes of whole frames received.")
      .add({}, report.received_bytes);
  out.counter("sent_packets_total", "Packets that devices took.").add({}, report.sent);
  out.counter("sent_bytes_total", "Bytes of whole frames sent.").add({}, report.sent_bytes);
  out.counter("originated_packets_total", "Frames that the balancer made itself.")
      .add({}, report.run.originated);
  out.counter("consumed_packets_total", "Packets that were for the balancer itself.")
      .add({}, report.run.consumed);
  out.counter("dropped_packets_total", "Packets dropped, by cause.");
  for (const net::DropCauseInfo& info : kDropCauses) {
    out.add({{"cause", std::string(info.name)}}, report.run.drops[info.cause]);
  }
  out.counter("icmp_errors_sent_total", "ICMP errors that the balancer sent, by kind.")
      .add({{"kind", "too_big"}}, report.icmp_answers.too_big)
      .add({{"kind", "time_exceeded"}}, report.icmp_answers.time_exceeded);
  out.counter("flows_made_total", "Connections made.").add({}, report.flows.made);
  out.counter("flows_over_total", "Connections that are over, by the way they ended.")
      .add({{"end", "ended"}}, report.flows.ended)
      .add({{"end", "expired"}}, report.flows.expired)
      .add({{"end", "deleted"}}, report.flows.deleted)
      .add({{"end", "evicted"}}, report.flows.evicted);
  out.gauge("flows_live", "Live connections; one that expired counts for 5 s more at most.")
      .add({}, report.live);
}

void add_ports(const Report& report, Collection& out) {
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
  out.counter("port_missed_packets_total", "Packets that the device lost before the balancer.");
  each([](const node::PortTotals& port) { return port.device_missed; });
  out.counter("port_errors_total", "Errors that the device reports.");
  each([](const node::PortTotals& port) { return port.device_errors; });
}

// Those that the configuration names: labels must be unique.
void add_backends(const Control::Sample& sample, Collection& out) {
  const auto each = [&](auto&& value_of) {
    for (const ServiceReport& service : sample.report.services) {
      for (const BackendReport& backend : service.backends) {
        if (backend.is_removed) continue;
        const uint32_t weight =
            sample.layout.families[service.family].backends[backend.slot].weight;
        out.add({{"service", service.name}, {"backend", backend.name}},
                value_of(backend.counters, weight));
      }
    }
  };
  out.counter("backend_flows_total", "Connections made, by service and backend.");
  each([](const BackendCounters& counters, uint32_t) { return counters.flows; });
  out.counter("backend_packets_total", "Packets forwarded in both directions.");
  each([](const BackendCounters& counters, uint32_t) { return counters.packets; });
  out.counter("backend_bytes_total", "Bytes of whole frames forwarded in both directions.");
  each([](const BackendCounters& counters, uint32_t) { return counters.bytes; });
  out.gauge(
      "backend_flows_live",
      "Live connections, by service and backend; one that expired counts for 5 s more at most.");
  each([](const BackendCounters& counters, uint32_t) {
    return counters.flows - counters.flows_over;
  });
  out.gauge("backend_weight", "Share of new connections; 0: it gets none.");
  each([](const BackendCounters&, uint32_t weight) { return uint64_t{weight}; });
}

void add_reloads(const Control::Sample& sample, Collection& out) {
  out.counter("reloads_total", "Readings of the configuration, by outcome.")
      .add({{"outcome", "taken"}}, sample.reloads)
      .add({{"outcome", "refused"}}, sample.reloads_refused);
  uint64_t live = 0;
  for (const ServiceReport& service : sample.report.services) {
    for (const BackendReport& backend : service.backends) {
      if (backend.is_removed) live += backend.counters.flows - backend.counters.flows_over;
    }
  }
  out.gauge("removed_backend_flows_live",
            "Connections of backends that the configuration names no more.")
      .add({}, live);
}

void add_workers(const Control::Sample& sample, Collection& out) {
  const auto each = [&](auto&& value_of) {
    for (size_t i = 0; i < sample.workers.size(); ++i) {
      out.add({{"worker", std::to_string(i)}}, value_of(sample.workers[i]));
    }
  };
  using Worker = Control::Sample::Worker;
  out.counter("worker_batches_total", "Batches that held a packet.");
  each([](const Worker& worker) { return worker.totals.batches; });
  out.counter("worker_cycles_total", "Cycles of the processor for batches with packets, by stage.");
  for (size_t i = 0; i < sample.workers.size(); ++i) {
    for (const auto& [name, stage] : node::kStages) {
      out.add({{"worker", std::to_string(i)}, {"stage", std::string(name)}},
              sample.workers[i].totals.cycles.*stage);
    }
  }

  const auto each_table = [&](auto&& value_of) {
    for (size_t i = 0; i < sample.workers.size(); ++i) {
      for (size_t family = 0; family < 2; ++family) {
        out.add({{"worker", std::to_string(i)}, {"family", family == 0 ? "ipv4" : "ipv6"}},
                value_of(sample.workers[i].tables[family]));
      }
    }
  };
  out.gauge("table_entries", "Entries held by the table of connections.");
  each_table([](const TableSample& table) { return table.used; });
  out.gauge("table_capacity_entries", "Slots of the table of connections.");
  each_table([](const TableSample& table) { return table.capacity; });
  out.gauge("table_bytes", "Memory of the tables of a family.");
  each_table([](const TableSample& table) { return table.bytes; });
}

}  // namespace

control::MetricFamilies metric_families(const Result<Control::Sample>& sample) {
  Collection out;
  out.gauge("workers_answer", "1 when the workers answered, and only then there is more.")
      .add({}, sample.ok() ? 1 : 0);
  if (sample) {
    add_totals(sample.value().report, out);
    add_ports(sample.value().report, out);
    add_backends(sample.value(), out);
    add_reloads(sample.value(), out);
    add_workers(sample.value(), out);
  }
  return out.take();
}

}  // namespace roost::lb
