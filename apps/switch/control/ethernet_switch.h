// The switch, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/switch/config/config.h"
#include "apps/switch/control/control.h"
#include "apps/switch/control/frame_note.h"
#include "apps/switch/control/report.h"
#include "apps/switch/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::switching {

struct EthernetSwitch : control::NoStatus {
  using Config = switching::Config;
  using State = switching::State;
  using Datapath = switching::Datapath;
  using Report = switching::Report;

  static constexpr control::FunctionNames kNames = {"switch", "switch", "[switch] entries_max"};

  static std::span<const control::Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) { return switching::read_config(path); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat) {
    return State::create(config, seat.worker, seat.worker_count);
  }
  static trace::TraceWords trace_words();

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
  };
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return switching::make_report(states, std::move(totals));
  }
};

}  // namespace roost::switching
