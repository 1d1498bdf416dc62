// The observer, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/assets/config/config.h"
#include "apps/assets/control/asset_note.h"
#include "apps/assets/control/control.h"
#include "apps/assets/control/report.h"
#include "apps/assets/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::assets {

struct NetworkObserver : control::NoStatus {
  using Config = assets::Config;
  using State = Observer;
  using Datapath = assets::Datapath;
  using Report = assets::Report;

  static constexpr control::FunctionNames kNames = {"assets", "observer", "[assets] hosts_max"};

  static std::span<const control::Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) { return assets::read_config(path); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat&) {
    return Observer::create(config.observer());
  }
  static trace::TraceWords trace_words();

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
    std::optional<Error> on_started() { return own().start_log(); }
  };
  static Report make_report(std::span<Observer* const> states, node::RunTotals totals) {
    return assets::make_report(states, std::move(totals));
  }
};

}  // namespace roost::assets
