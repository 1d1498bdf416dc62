#include "apps/firewall/control/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "roost/control/report_json.h"
#include "roost/control/report_text.h"
#include "roost/control/rule_report.h"

namespace roost::firewall {

WorkReport& WorkReport::operator+=(const WorkReport& other) {
  add_counters<FilterCounters>(kFilterCounters, other.filter, filter);
  tracker += other.tracker;
  add_counters<l3::ResetCounters>(l3::kResetCounters, other.resets, resets);
  log_suppressed += other.log_suppressed;
  rules.resize(std::max(rules.size(), other.rules.size()));
  for (size_t place = 0; place < other.rules.size(); ++place) {
    rules[place].packets += other.rules[place].packets;
    rules[place].bytes += other.rules[place].bytes;
  }
  return *this;
}

void report_work(State& state, bool counts_live, WorkReport& work) {
  const auto tracker = state.tracker();
  work.filter = state.filter_counters();
  work.tracker = control::TrackerReport::of(tracker, tracker.fragment_report(), counts_live);
  work.resets = state.resets();
  work.log_suppressed = state.log().suppressed();
  const std::span<const acl::RuleSet::Counts> counts = state.rules().counts();
  std::copy_n(counts.begin(), std::min(counts.size(), work.rules.size()), work.rules.begin());
}

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  report.rules = states.front()->rules().rules();
  report.is_stateful = states.front()->config().is_stateful;
  for (State* state : states) {
    control::add_state(*state, report);
    report.routes.add(state->routes());
    WorkReport work;
    work.rules.resize(state->rules().counts().size());
    report_work(*state, true, work);
    report.work += work;
  }
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, kFirewallDropCauses);
  control::check_routes(report.routes, report, sums);
  control::check_tracker(report.work.tracker, sums);
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  control::write_ports(report, "firewall", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](control::TextOut) {}, [](size_t, control::TextOut) {}, out);
  control::write_rules(report.rules, report.work.rules, out);
  control::write_counts<FilterCounters>("filter", kFilterCounters, report.work.filter, out);
  if (report.is_stateful) control::write_connections(report.work.tracker, out);
  control::write_hops(report.routes, out);
  control::write_drops(report, kFirewallDropCauses, out);
  control::write_icmp_errors(report, out);
  control::write_neighbours(report.neighbours, out);
  control::write_cycles(report, out);
  return text;
}

control::Json report_json(const Report& report) {
  using control::counters_json;
  control::Json json = control::first_part_json(report, kFirewallDropCauses);
  json.update(control::network_part_json(report));
  json["filter"] = counters_json<FilterCounters>(kFilterCounters, report.work.filter);
  json["rules"] = control::rules_json(report.rules, report.work.rules);
  if (report.is_stateful) {
    json["connections"] = control::connections_json(report.work.tracker);
  }
  json["fragments"] = control::fragments_json(report.work.tracker);
  json["resets"] = counters_json<l3::ResetCounters>(l3::kResetCounters, report.work.resets);
  json["log_suppressed"] = report.work.log_suppressed;
  json["next_hops"] = control::hops_json(report.routes);
  json["others"] = counters_json<routing::HopCounters>(routing::kHopCounters, report.routes.others);
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::firewall
