// The firewall, as a program runs a network function (apps/program/function_run.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/firewall/config/config.h"
#include "apps/firewall/control/control.h"
#include "apps/firewall/control/report.h"
#include "apps/firewall/datapath/datapath.h"
#include "roost/control/function_names.h"
#include "roost/control/running_function.h"
#include "roost/node/run.h"
#include "roost/trace/tracer.h"

namespace roost::firewall {

struct Firewall : control::NoStatus {
  using Config = firewall::Config;
  using State = firewall::State;
  using Datapath = firewall::Datapath;
  using Report = firewall::Report;

  static constexpr control::FunctionNames kNames = {"firewall", "firewall",
                                                    "[firewall] connections"};

  static std::span<const control::Command> commands() { return command_list(); }
  static ConfigOutcome read_config(const std::string& path) { return firewall::read_config(path); }
  static std::string summary_of(const Config& config);
  static node::RunConfig run_config(const Config& config);
  static std::optional<Error> prepare(Config& config, const node::RunPlan& plan);
  static Result<State> create_state(const Config& config, const node::WorkerSeat& seat) {
    return State::create(config, seat.device_macs);
  }
  static trace::TraceWords trace_words();

  struct Running : control::RunningFunction<Control> {
    using RunningFunction::RunningFunction;
    [[nodiscard]] control::MetricFamilies metrics();
    void ended() { own().write_rest(); }
  };
  static Report make_report(std::span<State* const> states, node::RunTotals totals) {
    return firewall::make_report(states, std::move(totals));
  }
};

// What trace::Watched asks for: the connection of a traced packet, or the rule that it gets.
void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick now, trace::Note& note);

}  // namespace roost::firewall
