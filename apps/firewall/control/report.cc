#include "apps/firewall/control/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "roost/control/report_json.h"
#include "roost/control/report_text.h"

namespace roost::firewall {

namespace {

std::string what_text(std::span<const RuleConfig> rules, size_t place) {
  return place + 1 < rules.size() ? rule_text(rules[place]) : "packets without a rule";
}

void write_rules(const Report& report, control::TextOut out) {
  fmt::format_to(out, "\n{:>14} {:>16}  rule\n", "packets", "bytes");
  for (size_t place = 0; place < report.work.rules.size(); ++place) {
    const RuleSet::Counts& counts = report.work.rules[place];
    if (counts.packets == 0) continue;
    const RuleConfig& rule = report.rules[place];
    fmt::format_to(out, "{:>14} {:>16}  {}: {} {}\n", counts.packets, counts.bytes, rule.name,
                   action_name(rule.action), what_text(report.rules, place));
  }
}

}  // namespace

WorkReport& WorkReport::operator+=(const WorkReport& other) {
  add_counters<FilterCounters>(kFilterCounters, other.filter, filter);
  connections += other.connections;
  connections_live += other.connections_live;
  fragments += other.fragments;
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
  if (counts_live) tracker.settle();
  work.connections = tracker.counts();
  work.connections_live = counts_live ? tracker.count_live() : work.connections.held();
  work.fragments = tracker.fragment_report();
  work.resets = state.resets();
  work.log_suppressed = state.log().suppressed();
  const std::span<const RuleSet::Counts> counts = state.rules().counts();
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
  const conntrack::FragmentReport& fragments = report.work.fragments;
  sums.expect_equal(
      report.routes.packets() + report.echo_replies + report.run.originated,
      report.sent + report.run.drops[net::DropCause::kTxRefused] +
          report.run.drops[net::DropCause::kNoBuffer] + report.neighbours.counters.waited,
      "packets of all next hops + echo replies + originated = packets sent + tx_refused + "
      "no_buffer + waited does not hold");
  sums.expect_equal(report.work.connections.held(), report.work.connections_live,
                    "connections created = ended + expired + deleted + evicted + live does not "
                    "hold");
  sums.expect_equal(fragments.counters.waited,
                    fragments.counters.released + fragments.counters.expired + fragments.waiting,
                    "fragments that waited = released + expired + waiting does not hold");
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  control::write_ports(report, "firewall", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](control::TextOut) {}, [](size_t, control::TextOut) {}, out);
  write_rules(report, out);
  control::write_counts<FilterCounters>("filter", kFilterCounters, report.work.filter, out);
  if (report.is_stateful) {
    control::write_counts<conntrack::FlowCounts>("connections", conntrack::kFlowCounters,
                                                 report.work.connections, out);
    fmt::format_to(out, "  {:<22} {:>14}\n", "live", report.work.connections_live);
  }
  control::write_hops(report.routes, out);
  control::write_drops(report, kFirewallDropCauses, out);
  control::write_icmp_errors(report, out);
  control::write_neighbours(report.neighbours, out);
  control::write_cycles(report, out);
  return text;
}

control::Json rules_json(std::span<const RuleConfig> rules,
                         std::span<const RuleSet::Counts> counts) {
  control::Json rows = control::Json::array();
  for (size_t place = 0; place < counts.size(); ++place) {
    rows.push_back({{"rule", rules[place].name},
                    {"action", action_name(rules[place].action)},
                    {"what", what_text(rules, place)},
                    {"packets", counts[place].packets},
                    {"bytes", counts[place].bytes}});
  }
  return rows;
}

control::Json report_json(const Report& report) {
  using control::counters_json;
  control::Json json = control::first_part_json(report, kFirewallDropCauses);
  json.update(control::network_part_json(report));
  json["filter"] = counters_json<FilterCounters>(kFilterCounters, report.work.filter);
  json["rules"] = rules_json(report.rules, report.work.rules);
  if (report.is_stateful) {
    json["connections"] =
        counters_json<conntrack::FlowCounts>(conntrack::kFlowCounters, report.work.connections);
    json["connections"]["live"] = report.work.connections_live;
  }
  json["fragments"] = counters_json<conntrack::FragmentCounters>(conntrack::kFragmentCounters,
                                                                 report.work.fragments.counters);
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
