// What a run of the firewall did, in numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/firewall/datapath/state.h"
#include "roost/control/json.h"
#include "roost/control/route_report.h"
#include "roost/control/run_report.h"
#include "roost/control/tracker_report.h"

namespace roost::firewall {

// What workers counted, beside what every function counts.
struct WorkReport {
  FilterCounters filter{};
  control::TrackerReport tracker{};
  l3::ResetCounters resets{};
  uint64_t log_suppressed = 0;
  std::vector<acl::RuleSet::Counts> rules{};  // by place; the last is of packets without a rule

  WorkReport& operator+=(const WorkReport& other);
};
// `counts_live`: whether connections are counted one by one, which takes time. The rules' places
// are there already, with zeroes, where this runs on a worker.
void report_work(State& state, bool counts_live, WorkReport& work);

struct Report : control::RunReport {
  control::RouteReport routes{};
  WorkReport work{};
  bool is_stateful = true;
  std::vector<acl::RuleConfig> rules{};  // by place
};

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);

[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] control::Json report_json(const Report& report);

}  // namespace roost::firewall
