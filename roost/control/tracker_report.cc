#include "roost/control/tracker_report.h"

#include <fmt/format.h>

#include <string>

#include "roost/control/report_json.h"

namespace roost::control {

using conntrack::FlowCounts;
using conntrack::FragmentCounters;
using conntrack::FragmentReport;

TrackerReport& TrackerReport::operator+=(const TrackerReport& other) {
  connections += other.connections;
  live += other.live;
  fragments += other.fragments;
  return *this;
}

Json connections_json(const TrackerReport& report) {
  Json json = counters_json<FlowCounts>(conntrack::kFlowCounters, report.connections);
  json["live"] = report.live;
  return json;
}

Json fragments_json(const TrackerReport& report) {
  const FragmentReport& fragments = report.fragments;
  Json json = counters_json<FragmentCounters>(conntrack::kFragmentCounters, fragments.counters);
  json.update(counters_json<FragmentReport>(conntrack::kFragmentReportCounters, fragments));
  return json;
}

void write_connections(const TrackerReport& report, TextOut out) {
  write_counts<FlowCounts>("connections", conntrack::kFlowCounters, report.connections, out);
  fmt::format_to(out, "  {:<22} {:>14}\n", "live", report.live);
}

void add_tracker(const TrackerReport& report, std::string_view name, MetricList& out) {
  out.add_counters<FlowCounts>(std::string(name), conntrack::kFlowCounters, report.connections);
  out.gauge(std::string(name), "Connections now.").add({}, report.live);
  out.add_counters<FragmentCounters>("fragments", conntrack::kFragmentCounters,
                                     report.fragments.counters);
}

void check_tracker(const TrackerReport& report, SumCheck& sums) {
  const FragmentReport& fragments = report.fragments;
  sums.expect_equal(report.connections.held(), report.live,
                    "connections created = ended + expired + deleted + evicted + live does not "
                    "hold");
  sums.expect_equal(fragments.counters.waited,
                    fragments.counters.released + fragments.counters.expired + fragments.waiting,
                    "fragments that waited = released + expired + waiting does not hold");
}

}  // namespace roost::control
