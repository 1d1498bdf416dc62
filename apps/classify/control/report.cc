#include "apps/classify/control/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "roost/control/report_json.h"
#include "roost/control/report_text.h"
#include "roost/openflow/flow_causes.h"
#include "roost/openflow/flow_text.h"

namespace roost::classifying {

namespace {

using classify::ClassifierCounters;
using openflow::PipelineCounters;

constexpr size_t kFlowsOfText = 40;

// The flows that have matched most packets, some of them.
void write_flows(const Report& report, control::TextOut out) {
  std::vector<const FlowReport*> flows;
  for (const FlowReport& flow : report.flows)
    if (flow.counts.packets != 0) flows.push_back(&flow);
  const auto idle = report.flows.size() - flows.size();
  std::ranges::stable_sort(flows, std::ranges::greater{},
                           [](const FlowReport* flow) { return flow->counts.packets; });
  fmt::format_to(out, "\n{:>14} {:>16}  flow\n", "packets", "bytes");
  for (size_t i = 0; i < std::min(flows.size(), kFlowsOfText); ++i) {
    fmt::format_to(out, "{:>14} {:>16}  {}\n", flows[i]->counts.packets, flows[i]->counts.bytes,
                   openflow::format_flow(flows[i]->flow));
  }
  if (flows.size() > kFlowsOfText)
    fmt::format_to(out, "and {} flows with fewer packets\n", flows.size() - kFlowsOfText);
  fmt::format_to(out, "{} flows without packets\n", idle);
}

}  // namespace

WorkReport& WorkReport::operator+=(const WorkReport& other) {
  add_counters<PipelineCounters>(openflow::kPipelineCounters, other.pipeline, pipeline);
  add_counters<ClassifierCounters>(classify::kClassifierCounters, other.classifiers, classifiers);
  add_counters<TablesReport>(kTablesReportCounters, other.tables, tables);
  tracker += other.tracker;
  return *this;
}

WorkReport report_work(State& state, bool counts_live) {
  openflow::Pipeline& pipeline = state.pipeline();
  WorkReport work{.pipeline = pipeline.counters(), .classifiers = pipeline.classifier_counters()};
  for (size_t number = 0; number < openflow::kTablesMax; ++number) {
    const classify::Classifier* const table = pipeline.tables().table(number);
    if (table == nullptr) continue;
    work.tables.rules += table->rule_count();
    work.tables.masks += table->mask_count();
    work.tables.megaflows += table->megaflow_count();
    work.tables.megaflow_masks += table->megaflow_mask_count();
  }
  work.tables.bytes = pipeline.tables().memory_bytes();
  std::optional<openflow::FlowTracker>& tracker = pipeline.tracker();
  if (!tracker) return work;
  work.tables.bytes += tracker->memory_bytes();
  work.tracker = control::TrackerReport::of(*tracker, tracker->fragment_report(), counts_live);
  return work;
}

Report make_report(std::span<State* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  for (State* state : states) report.work += report_work(*state, true);
  report.tracks_connections = states.front()->pipeline().tracker().has_value();
  for (const auto& [key, listed] : states.front()->shared().flows) {
    FlowReport flow{.flow = listed.flow, .counts = listed.counted_before};
    for (size_t i = 0; i < states.size(); ++i) {
      const auto counts = states[i]->pipeline().tables().counts(listed.ids[i]);
      if (!counts) continue;
      flow.counts.packets += counts->packets;
      flow.counts.bytes += counts->bytes;
    }
    report.flows.push_back(std::move(flow));
  }
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, openflow::kFlowDropCauses);
  const ClassifierCounters& counts = report.work.classifiers;
  sums.expect_equal(report.work.pipeline.lookups, counts.packets,
                    "lookups in flow tables = packets classified does not hold");
  sums.expect_equal(
      counts.packets,
      counts.cache_hits + counts.megaflow_hits + counts.rule_hits + counts.unmatched,
      "packets classified = cache_hits + megaflow_hits + rule_hits + unmatched does not hold");
  control::check_tracker(report.work.tracker, sums);
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  control::write_ports(report, "classifier", out);
  control::write_captures(report, out);
  control::write_workers(
      report, [](control::TextOut) {}, [](size_t, control::TextOut) {}, out);
  write_flows(report, out);
  control::write_counts<PipelineCounters>("flow tables", openflow::kPipelineCounters,
                                          report.work.pipeline, out);
  control::write_counts<TablesReport>("there now", kTablesReportCounters, report.work.tables, out);
  control::write_counts<ClassifierCounters>("lookups", classify::kClassifierCounters,
                                            report.work.classifiers, out);
  if (report.tracks_connections) control::write_connections(report.work.tracker, out);
  control::write_drops(report, openflow::kFlowDropCauses, out);
  control::write_cycles(report, out);
  return text;
}

control::Json flow_json(const openflow::Flow& flow, const classify::RuleTable::Counts& counts) {
  return {{"table", flow.table},
          {"priority", flow.match.priority},
          {"match", openflow::format_match(flow)},
          {"actions", openflow::format_actions(flow)},
          {"packets", counts.packets},
          {"bytes", counts.bytes}};
}

control::Json report_json(const Report& report) {
  using control::counters_json;
  control::Json json = control::first_part_json(report, openflow::kFlowDropCauses);
  json["pipeline"] =
      counters_json<PipelineCounters>(openflow::kPipelineCounters, report.work.pipeline);
  json["classifiers"] =
      counters_json<ClassifierCounters>(classify::kClassifierCounters, report.work.classifiers);
  json["tables"] = counters_json<TablesReport>(kTablesReportCounters, report.work.tables);
  if (report.tracks_connections) {
    json["connections"] = control::connections_json(report.work.tracker);
    json["fragments"] = control::fragments_json(report.work.tracker);
  }
  if (!report.flows.empty()) {
    control::Json rows = control::Json::array();
    for (const FlowReport& flow : report.flows) rows.push_back(flow_json(flow.flow, flow.counts));
    json["flows"] = std::move(rows);
  }
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::classifying
