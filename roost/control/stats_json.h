// What the commands `stats` and `workers` answer, and how `stats` is shown, of functions whose
// workers have no columns of their own.
#pragma once

#include <span>
#include <string_view>

#include "roost/control/json.h"
#include "roost/control/report_json.h"
#include "roost/control/view.h"
#include "roost/control/worker_handle.h"

namespace roost::control {

// `report_json` is the function's own, found by argument-dependent lookup.
template <class Report>
[[nodiscard]] Json stats_or_workers_json(std::string_view command, const Report& report,
                                         std::span<const WorkerHandle> workers) {
  Json json = Json::object();
  if (command == "stats") {
    json = report_json(report);
    json["reloads"] = reloads_json(report);
  }
  json["workers"] = running_workers_json(workers, report);
  return json;
}

// `add_own`: what the function shows between packets and drops.
template <class AddOwn>
[[nodiscard]] Json stats_view(const Json& result, AddOwn&& add_own) {
  View view;
  add_packets_and_drops(
      result, [&] { add_own(view); }, view);
  add_workers(result["workers"], {}, {}, view.text(""));
  return view.take();
}

}  // namespace roost::control
