#include "apps/nat/control/report.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "roost/control/report_json.h"
#include "roost/control/report_text.h"

namespace roost::nat {

Work& Work::operator+=(const Work& other) {
  add_counters<TranslationCounters>(kTranslationCounters, other.translations, translations);
  add_counters<conntrack::MappingCounters>(conntrack::kMappingCounters, other.mappings, mappings);
  mappings_live += other.mappings_live;
  tracker += other.tracker;
  return *this;
}

Work work_of(State& state, bool counts_live) {
  // First: what is over is settled by it, and mappings are over with their connections.
  const control::TrackerReport tracker = control::TrackerReport::of(
      state.tracker().connections(), state.tracker().fragment_report(), counts_live);
  const conntrack::PortMappings& mappings = state.held().mappings;
  Work work{.translations = state.counters(),
            .mappings = mappings.counters(),
            .mappings_live = mappings.live_count(),
            .tracker = tracker};
  if (!counts_live) return work;
  work.mappings_live = 0;
  uint64_t place = 0;
  mappings.walk(place, UINT64_MAX,
                [&](const auto& mapping) { work.mappings_live += mapping.is_static ? 0 : 1; });
  return work;
}

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  for (State* const state : states) {
    report.work += work_of(*state, true);
    report.routes.add(state->routes());
    control::add_state(*state, report);
  }
  control::add_up_ports(report);
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  const Work& work = report.work;
  control::SumCheck sums;
  sums.check_run(report, kDropCauses);
  control::check_routes(report.routes, report, sums);
  control::check_tracker(work.tracker, sums);
  sums.expect_equal(work.mappings.created, work.mappings.over + work.mappings_live,
                    "mappings created = over + live does not hold");
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  const Work& work = report.work;
  control::write_ports(report, "NAT", out);
  control::write_captures(report, out);
  const auto no_columns = [](control::TextOut) {};
  control::write_workers(
      report, no_columns, [](size_t, control::TextOut) {}, out);
  control::write_counts<TranslationCounters>("translated", kTranslationCounters, work.translations,
                                             out);
  control::write_counts<conntrack::MappingCounters>("mappings", conntrack::kMappingCounters,
                                                    work.mappings, out);
  fmt::format_to(out, "  {:<22} {:>14}\n", "live", work.mappings_live);
  control::write_connections(work.tracker, out);
  control::write_hops(report.routes, out);
  control::write_icmp_errors(report, out);
  control::write_neighbours(report.neighbours, out);
  control::write_drops(report, kDropCauses, out);
  control::write_cycles(report, out);
  return text;
}

control::Json report_json(const Report& report) {
  using control::counters_json;
  const Work& work = report.work;
  control::Json json = control::first_part_json(report, kDropCauses);
  json["translated"] = counters_json<TranslationCounters>(kTranslationCounters, work.translations);
  json["mappings"] =
      counters_json<conntrack::MappingCounters>(conntrack::kMappingCounters, work.mappings);
  json["mappings"]["live"] = work.mappings_live;
  json["flows"] = control::connections_json(work.tracker);
  json["fragments"] = control::fragments_json(work.tracker);
  json["others"] = counters_json<routing::HopCounters>(routing::kHopCounters, report.routes.others);
  json["next_hops"] = control::hops_json(report.routes);
  json.update(control::network_part_json(report));
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::nat
