#include "apps/forward/control/report.h"

#include <iterator>
#include <utility>

#include "roost/control/report_json.h"
#include "roost/control/report_text.h"
#include "roost/routing/forwarder.h"

namespace roost::forward {

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  for (State* state : states) {
    control::add_state(*state, report);
    report.routes.add(state->routes());
  }
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, routing::kForwarderDropCauses);
  control::check_routes(report.routes, report, sums);
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  control::write_ports(report, "router", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](control::TextOut) {}, [](size_t, control::TextOut) {}, out);
  control::write_hops(report.routes, out);
  control::write_drops(report, routing::kForwarderDropCauses, out);
  control::write_icmp_errors(report, out);
  control::write_neighbours(report.neighbours, out);
  control::write_cycles(report, out);
  return text;
}

control::Json report_json(const Report& report) {
  control::Json json = control::first_part_json(report, routing::kForwarderDropCauses);
  json.update(control::network_part_json(report));
  json["next_hops"] = control::hops_json(report.routes);
  json["others"] =
      control::counters_json<routing::HopCounters>(routing::kHopCounters, report.routes.others);
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::forward
