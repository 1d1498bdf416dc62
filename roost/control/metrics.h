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

  // `prefix`: of every name, "roost_lb_".
  explicit MetricList(std::string prefix) : prefix_(std::move(prefix)) {}

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

  std::string prefix_;
  MetricFamilies families_;
};

// `function`: as help texts name it, "balancer".
void add_packets(const RunReport& report, std::span<const net::DropCauseInfo> causes,
                 std::string_view function, MetricList& out);
void add_ports(const RunReport& report, std::string_view function, MetricList& out);
void add_reloads(const RunReport& report, MetricList& out);
void add_stages(std::span<const node::RunTotals> workers, MetricList& out);

}  // namespace roost::control
