// The NAT, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/nat/config/config.h"
#include "apps/nat/control/control.h"
#include "apps/nat/control/report.h"
#include "apps/nat/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::nat {

struct AddressTranslator : control::NoStatus {
  using Config = nat::Config;
  using Datapath = nat::Datapath;
  using Report = nat::Report;
  using State = nat::State;

  static constexpr control::FunctionNames kNames = {"nat", "NAT", "[nat] connections"};

  static ConfigOutcome read_config(const std::string& path) { return nat::read_config(path); }
  static std::span<const control::Command> commands() { return command_list(); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat) {
    return State::create(config, seat);
  }
  static trace::TraceWords trace_words();
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return nat::make_report(states, std::move(totals));
  }

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
  };
};

// What trace::Watched asks for: the route of a traced packet.
void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

}  // namespace roost::nat
