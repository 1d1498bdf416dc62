// What functions that track connections report of them, and of the fragments that follow them.
#pragma once

#include <cstdint>
#include <string_view>

#include "roost/conntrack/flow_counts.h"
#include "roost/conntrack/tracker.h"
#include "roost/control/json.h"
#include "roost/control/metrics.h"
#include "roost/control/report_text.h"
#include "roost/control/run_report.h"

namespace roost::control {

// Of a worker, or of all together.
struct TrackerReport {
  conntrack::FlowCounts connections{};
  uint64_t live = 0;
  conntrack::FragmentReport fragments{};

  // `connections`: those of a family, or of both together, as conntrack has them. `counts_live`:
  // whether they are counted one by one, which takes time.
  template <class Connections>
  [[nodiscard]] static TrackerReport of(Connections&& connections,
                                        const conntrack::FragmentReport& fragments,
                                        bool counts_live) {
    if (counts_live) connections.settle();
    TrackerReport report{.connections = connections.counts(), .fragments = fragments};
    report.live = counts_live ? connections.count_live() : report.connections.held();
    return report;
  }
  TrackerReport& operator+=(const TrackerReport& other);
};

[[nodiscard]] Json connections_json(const TrackerReport& report);
[[nodiscard]] Json fragments_json(const TrackerReport& report);
void write_connections(const TrackerReport& report, TextOut out);
// `name`: what the function calls connections.
void add_tracker(const TrackerReport& report, std::string_view name, MetricList& out);
// Connections and fragments are all somewhere.
void check_tracker(const TrackerReport& report, SumCheck& sums);

}  // namespace roost::control
