#include "apps/nat/control/address_translator.h"

#include <fmt/format.h>

#include "roost/control/metrics.h"
#include "roost/trace/route_note.h"

namespace roost::nat {

std::string AddressTranslator::summary_of(const Config& config) {
  return fmt::format(
      "{} ports, {} external addresses, {} forwards, {} routes; filtering {}; room for {} "
      "connections of each worker; a tick of {:g} s.",
      config.network.ports.size(), config.external.size(), config.forwards.size(),
      config.network.routes.size(), kFilteringNames[static_cast<size_t>(config.filtering)],
      config.connections, config.tick_seconds());
}

node::RunConfig AddressTranslator::run_config(const Config& config) {
  return node::run_config_of(config, "[nat]", node::ports_of(config.network.ports));
}

std::optional<Error> AddressTranslator::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  return routing::make_table(config);
}

trace::TraceWords AddressTranslator::trace_words() {
  return {"NAT", kDropCauses, trace::route_text};
}

void explain(State& state, const net::Packet& packet, const net::ParsedPacket& parsed,
             net::ParseVerdict verdict, Tick, trace::Note& note) {
  if (trace::has_addresses(verdict)) trace::note_route(state.routes(), packet, parsed, note);
}

control::MetricFamilies AddressTranslator::Running::metrics() {
  return sampled(kNames, kDropCauses, [](const Report& report, control::MetricList& out) {
    const Work& work = report.work;
    out.add_counters<TranslationCounters>("translated", kTranslationCounters, work.translations);
    out.add_counters<conntrack::MappingCounters>("mappings", conntrack::kMappingCounters,
                                                 work.mappings);
    out.gauge("mappings", "Mappings now, forwards left out.").add({}, work.mappings_live);
    control::add_tracker(work.tracker, "flows", out);
    control::add_hops(report.routes, out);
    control::add_network(report, out);
  });
}

}  // namespace roost::nat
