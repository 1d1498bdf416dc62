// What a run of the classifier did, in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/classify/datapath/state.h"
#include "roost/base/counter.h"
#include "roost/classify/classifier_counters.h"
#include "roost/control/json.h"
#include "roost/control/run_report.h"
#include "roost/control/sample_request.h"
#include "roost/control/tracker_report.h"

namespace roost::classifying {

// What there is now, in all tables of all workers.
struct TablesReport {
  uint64_t rules = 0;
  uint64_t masks = 0;
  uint64_t megaflows = 0;
  uint64_t megaflow_masks = 0;
  uint64_t bytes = 0;
};
inline constexpr std::array kTablesReportCounters = {
    Counter{"rules", &TablesReport::rules, "flows in the tables now, of all workers"},
    Counter{"masks", &TablesReport::masks, "masks of them"},
    Counter{"megaflows", &TablesReport::megaflows, "megaflows now"},
    Counter{"megaflow_masks", &TablesReport::megaflow_masks, "masks of them"},
    Counter{"bytes", &TablesReport::bytes, "bytes of tables, caches and connections"},
};
static_assert(lists_all(kTablesReportCounters));

// What a worker counted.
struct WorkReport {
  openflow::PipelineCounters pipeline{};
  classify::ClassifierCounters classifiers{};  // of all its tables
  TablesReport tables{};
  control::TrackerReport tracker{};

  WorkReport& operator+=(const WorkReport& other);
};
// `counts_live`: whether connections are counted one by one, which takes time.
[[nodiscard]] WorkReport report_work(State& state, bool counts_live);

struct FlowReport {
  openflow::Flow flow{};
  classify::RuleTable::Counts counts{};
};

struct Report : control::RunReport {
  WorkReport work{};
  bool tracks_connections = false;
  std::vector<FlowReport> flows{};  // at the end of a run
};

// Every number of a worker, but those of its flows.
class SampleRequest final : public control::SampleRequest {
 public:
  SampleRequest(const control::WorkerHandle& worker, State& state, size_t port_count)
      : control::SampleRequest(worker, port_count), state_(state) {}
  bool step() override {
    read();
    work = report_work(state_, false);
    return true;
  }

  WorkReport work{};

 private:
  State& state_;
};

// One state a worker, one at least, all of the same configuration.
[[nodiscard]] Report make_report(std::span<State* const> states, node::RunTotals run);

[[nodiscard]] std::vector<std::string> broken_sums(const Report& report);
[[nodiscard]] std::string format_text(const Report& report);
[[nodiscard]] std::string format_json(const Report& report);
[[nodiscard]] control::Json report_json(const Report& report);
// A flow as a row of tables: table, priority, match, actions, packets, bytes.
[[nodiscard]] control::Json flow_json(const openflow::Flow& flow,
                                      const classify::RuleTable::Counts& counts);

}  // namespace roost::classifying
