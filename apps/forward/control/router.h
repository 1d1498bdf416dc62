// The router, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/forward/config/config.h"
#include "apps/forward/control/control.h"
#include "apps/forward/control/report.h"
#include "apps/forward/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::forward {

struct Router : control::NoStatus {
  using Config = forward::Config;
  using State = forward::State;
  using Datapath = forward::Datapath;
  using Report = forward::Report;

  static constexpr control::FunctionNames kNames = {"forward", "router", "[[neighbour]]"};

  static std::span<const control::Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) { return forward::read_config(path); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat) {
    return State::create(config, seat.device_macs, config.table);
  }
  static trace::TraceWords trace_words();

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
  };
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return forward::make_report(states, std::move(totals));
  }
};

// What trace::Watched asks for: the route of a traced packet.
void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

}  // namespace roost::forward
