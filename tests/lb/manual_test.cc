// The manual's tables of the load balancer are those of the code.
#include "tests/control/manual.h"
#include "apps/lb/control/control_requests.h"
#include "apps/lb/control/report.h"

namespace roost::lb {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes", control::drop_causes_table(kDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<FlowCounts>("flows", kFlowCounters);
  table +=
      control::counter_rows<conntrack::FragmentCounters>("fragments", conntrack::kFragmentCounters);
  table += control::counter_rows<conntrack::FragmentReport>("fragments",
                                                            conntrack::kFragmentReportCounters);
  table += control::counter_rows<l3::ResetCounters>("resets", l3::kResetCounters);
  table += control::counter_rows<BackendCounters>("services.backends", kReportedBackendCounters);
  table += control::counter_rows<WorkerFlows>("workers", kWorkerFlowCounters);
  table += control::counter_rows<TableSample>("workers.tables", kTableCounters);
  table += control::run_counter_rows("balancer");
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::lb
