// What a run did, in numbers: gathered once at its end, shown as a table or as JSON, and added up.
// The sums must close; a report whose sums do not is a bug of this program or of a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/lb/datapath/drop_cause.h"
#include "apps/lb/datapath/state.h"
#include "apps/lb/takeover/takeover_report.h"
#include "roost/control/json.h"
#include "roost/control/run_report.h"

namespace roost::lb {

struct BackendReport {
  std::string name{};
  std::string endpoint{};
  BackendCounters counters{};
  bool is_removed = false;  // the configuration names it no more
  uint32_t index = 0;       // of its family's registry
};

struct ServiceReport {
  std::string name{};
  std::string endpoint{};
  std::string protocol{};
  std::string mode{};
  std::vector<BackendReport> backends{};
  bool is_removed = false;
  size_t family = 0;  // 0 IPv4, 1 IPv6
};

struct WorkerFlows {
  uint64_t created = 0;
  uint64_t live = 0;
};
inline constexpr std::array kWorkerFlowCounters = {
    Counter{"flows_created", &WorkerFlows::created, "connections created by the worker"}.with_text(
        "flows created", 12),
    Counter{"flows_live", &WorkerFlows::live, "connections of the worker that are live"}.with_text(
        "live", 12)};
static_assert(lists_all(kWorkerFlowCounters));

struct Report : control::RunReport {
  std::vector<WorkerFlows> worker_flows{};  // at a run's end
  FlowCounts flows{};
  conntrack::FragmentReport fragments{};
  l3::ResetCounters resets{};
  TakeoverReport takeover{};
  uint64_t live = 0;     // counted one by one
  bool is_sound = true;  // every connection has its reply tuple and the other way round
  std::vector<ServiceReport> services{};
  BackendCounters forgotten{};  // of backends that were removed and are in no service any more
  uint64_t table_bytes = 0;
  std::string page_size{};
  std::string kernel{};
};

// Ends the run: reclaims every expired connection and counts the live ones. One state a worker,
// one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);
[[nodiscard]] inline Report make_report(State& state, node::RunTotals run) {
  State* const only = &state;
  return make_report(std::span(&only, 1), std::move(run));
}

// The services of a registry in the order of the configuration, then those removed; with what
// `counters_at` says of each backend.
using BackendCountersAt = std::function<BackendCounters(size_t family, uint32_t index)>;
[[nodiscard]] std::vector<ServiceReport> report_services(const BackendRegistry& registry,
                                                         const BackendCountersAt& counters_at);

// A sentence for each sum that does not close; none when all is well.
[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);

// For people: a few tables.
[[nodiscard]] std::string format_text(const Report& report);

// For machines: one JSON object with the same numbers; README.md lists its fields.
[[nodiscard]] std::string format_json(const Report& report);

// Of the latter, what `roost ctl` has too.
[[nodiscard]] control::Json report_json(const Report& report);
[[nodiscard]] control::Json services_json(const Report& report);

}  // namespace roost::lb
