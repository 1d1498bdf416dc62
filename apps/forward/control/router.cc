#include "apps/forward/control/router.h"

#include <fmt/format.h>

#include "roost/control/metrics.h"
#include "roost/control/route_report.h"
#include "roost/trace/route_note.h"

namespace roost::forward {

std::string Router::summary_of(const Config& config) {
  if (config.is_wire) return "a wire between 2 ports.";
  return fmt::format("{} ports, {} neighbours, {} routes; a tick of {:g} s.",
                     config.network.ports.size(), config.network.neighbours.size(),
                     config.network.routes.size(), config.tick_seconds());
}

node::RunConfig Router::run_config(const Config& config) {
  return node::run_config_of(config, "[forward]", node::ports_of(config.network.ports));
}

std::optional<Error> Router::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  if (config.is_wire) return {};
  return routing::make_table(config);
}

trace::TraceWords Router::trace_words() {
  return {"router", routing::kForwarderDropCauses, trace::route_text};
}

void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick, trace::Note& note) {
  if (trace::has_addresses(verdict)) trace::note_route(state.routes(), packet, parsed, note);
}

control::MetricFamilies Router::Running::metrics() {
  return sampled(kNames, routing::kForwarderDropCauses,
                 [](const Report& report, control::MetricList& out) {
                   control::add_network(report, out);
                   control::add_hops(report.routes, out);
                 });
}

}  // namespace roost::forward
