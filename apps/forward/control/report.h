// What a run of the router did, in numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/forward/datapath/state.h"
#include "roost/control/json.h"
#include "roost/control/route_report.h"
#include "roost/control/run_report.h"

namespace roost::forward {

struct Report : control::RunReport {
  control::RouteReport routes{};
};

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);

[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] control::Json report_json(const Report& report);

}  // namespace roost::forward
