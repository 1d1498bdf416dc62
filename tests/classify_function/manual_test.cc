// The manual's tables of the classifier are those of the code.
#include "tests/control/manual.h"

#include "apps/classify/control/report.h"
#include "roost/openflow/flow_causes.h"

namespace roost::classifying {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes",
                            control::drop_causes_table(openflow::kFlowDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table +=
      control::counter_rows<openflow::PipelineCounters>("pipeline", openflow::kPipelineCounters);
  table += control::counter_rows<classify::ClassifierCounters>("classifiers",
                                                               classify::kClassifierCounters);
  table += control::counter_rows<TablesReport>("tables", kTablesReportCounters);
  table += control::counter_rows<conntrack::FlowCounts>("connections", conntrack::kFlowCounters);
  table +=
      control::counter_rows<conntrack::FragmentCounters>("fragments", conntrack::kFragmentCounters);
  table += control::packet_counter_rows("classifier");
  table += control::device_counter_rows("classifier");
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::classifying
