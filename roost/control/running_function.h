// What is the same in the run of every function: its control, and what its metrics begin and end
// with (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/control/control.h"
#include "roost/control/function_names.h"
#include "roost/control/metrics.h"
#include "roost/net/drop_cause.h"

namespace roost::control {

// A function's `Running`, but for its metrics. `Own` is its control: it has sample().
template <class Own>
class RunningFunction {
 public:
  template <class Config, class State>
  RunningFunction(const Config& config, Control::Config control_config, std::vector<State*> states)
      : own_(config, std::move(control_config), std::move(states)) {}

  [[nodiscard]] Control& control() { return own_; }
  std::optional<Error> on_started() { return {}; }
  void leave() {}
  void ended() {}

 protected:
  [[nodiscard]] Own& own() { return own_; }
  // Whether there is an answer, packets, drops, ports; what add(report, out) adds; and reloads and
  // stages.
  template <class Add>
  [[nodiscard]] MetricFamilies sampled(const FunctionNames& names,
                                       std::span<const net::DropCauseInfo> causes, Add&& add) {
    MetricList out("roost_" + std::string(names.command) + "_", std::string(names.noun));
    const auto sample = own_.sample();
    add_answer(sample.ok(), out);
    if (!sample) return out.take();
    const auto& report = sample.value();
    add_packets(report, causes, out);
    add_ports(report, out);
    add(report, out);
    add_reloads(report, out);
    add_stages(report.running, out);
    return out.take();
  }

 private:
  Own own_;
};

}  // namespace roost::control
