// The classifier, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/classify/config/config.h"
#include "apps/classify/control/control.h"
#include "apps/classify/control/lookup_note.h"
#include "apps/classify/control/report.h"
#include "apps/classify/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::classifying {

struct PacketClassifier : control::NoStatus {
  using Config = classifying::Config;
  using State = classifying::State;
  using Datapath = classifying::Datapath;
  using Report = classifying::Report;

  static constexpr control::FunctionNames kNames = {"classify", "classifier",
                                                    "[classify] connections"};

  static std::span<const control::Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) {
    return classifying::read_config(path);
  }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static trace::TraceWords trace_words();
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat) {
    return State::create(config, seat.worker, seat.worker_count);
  }

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
  };
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return classifying::make_report(states, std::move(totals));
  }
};

}  // namespace roost::classifying
