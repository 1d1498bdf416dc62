// A function's numbers as metrics: families in the order in which they are begun, and those that
// every function has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/base/counter.h"
#include "roost/control/metrics_endpoint.h"
#include "roost/control/run_report.h"
#include "roost/net/drop_cause.h"

namespace roost::control {

class MetricList {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  // `prefix`: of every name, "roost_lb_". `function`: as help texts name it where they have {},
  // "balancer".
  MetricList(std::string prefix, std::string function)
      : prefix_(std::move(prefix)), function_(std::move(function)) {}

  MetricList& counter(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Counter);
  }
  MetricList& gauge(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Gauge);
  }
  // A value of the family begun last.
  MetricList& add(Labels labels, uint64_t value);

  // A counter for each of the list, PREFIX_GROUP_NAME_total.
  template <class Counters>
  void add_counters(std::string_view group, std::span<const Counter<Counters>> list,
                    const Counters& values) {
    for (const Counter<Counters>& one : list) {
      counter(std::string(group) + "_" + std::string(one.name) + "_total",
              std::string(one.help) + ".")
          .add({}, values.*one.value);
    }
  }
  // A family for each of the list that names its metric. `each(value_of)` adds its values:
  // value_of(counters) is that of some.
  template <class Counters, class Each>
  void add_families(std::span<const Counter<Counters>> list, const Each& each,
                    prometheus::MetricType type = prometheus::MetricType::Counter) {
    for (const Counter<Counters>& one : list) {
      if (one.metric.empty()) continue;
      begin_named(one.metric, one.help, type);
      each([&](const Counters& values) { return values.*one.value; });
    }
  }
  // Of the family begun last: a value for each of the list, told apart by a label.
  template <class Counters>
  void add_each(const std::string& label, std::span<const Counter<Counters>> list,
                const Counters& values) {
    for (const Counter<Counters>& one : list) {
      add({{label, std::string(one.name)}}, values.*one.value);
    }
  }

  [[nodiscard]] MetricFamilies take() { return std::move(families_); }

 private:
  MetricList& begin(std::string_view name, std::string_view help, prometheus::MetricType type);
  void begin_named(std::string_view metric, std::string_view help, prometheus::MetricType type);

  std::string prefix_;
  std::string function_;
  MetricFamilies families_;
};

// What every function's metrics begin with.
void add_answer(bool workers_answered, MetricList& out);
void add_packets(const RunReport& report, std::span<const net::DropCauseInfo> causes,
                 MetricList& out);
// Of a function with a network layer: ICMP errors and neighbours.
void add_network(const RunReport& report, MetricList& out);
void add_ports(const RunReport& report, MetricList& out);
void add_reloads(const RunReport& report, MetricList& out);
void add_stages(std::span<const node::RunTotals> workers, MetricList& out);

}  // namespace roost::control
