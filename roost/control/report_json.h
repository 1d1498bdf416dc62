// The parts of a report that every function has, as JSON. The names of the fields are an interface:
// the functions' manuals list them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "roost/base/counter.h"
#include "roost/control/json.h"
#include "roost/control/run_report.h"
#include "roost/control/worker_handle.h"
#include "roost/net/drop_cause.h"

namespace roost::control {

// A field for each counter, in the order of the list.
template <class Counters>
[[nodiscard]] Json counters_json(std::span<const Counter<Counters>> list, const Counters& values) {
  Json json = Json::object();
  for (const Counter<Counters>& one : list) json[std::string(one.name)] = values.*one.value;
  return json;
}

// What every report begins with: packets and drops.
[[nodiscard]] Json first_part_json(const RunReport& report,
                                   std::span<const net::DropCauseInfo> causes);
// What follows if the function has a network layer: ICMP errors, local addresses, neighbours.
[[nodiscard]] Json network_part_json(const RunReport& report);
// What every report ends with: ports to cycles.
[[nodiscard]] Json last_part_json(const RunReport& report);

[[nodiscard]] Json packets_json(const RunReport& report);
[[nodiscard]] Json drops_json(const RunReport& report, std::span<const net::DropCauseInfo> causes);
[[nodiscard]] Json icmp_errors_json(const RunReport& report);
[[nodiscard]] Json neighbours_json(const NeighbourReport& report);
[[nodiscard]] Json ports_json(const RunReport& report);
[[nodiscard]] Json captures_json(const RunReport& report);
[[nodiscard]] Json run_json(const RunReport& report);
[[nodiscard]] Json cycles_json(const node::StageCycles& cycles);
// `own`: the function's fields, which stand behind the packets'.
[[nodiscard]] Json reloads_json(const RunReport& report);
// A whole report: with its workers, where they are not there already, and the sums that fail.
[[nodiscard]] std::string format_json(Json json, const RunReport& report,
                                      const std::vector<std::string>& broken);
// Running workers.
[[nodiscard]] Json running_workers_json(std::span<const WorkerHandle> workers,
                                        const RunReport& report);
[[nodiscard]] Json worker_json(const node::WorkerTotals& worker, const Json& own = Json::object());

}  // namespace roost::control
