// The manual's tables of the load balancer are those of the code.
#include "tests/control/manual.h"
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
  table += control::counter_rows<l3::IcmpErrorCounters>("icmp_errors_sent", l3::kIcmpErrorCounters);
  table += control::counter_rows<l3::NeighbourCounters>("neighbours", l3::kNeighbourCounters);
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::lb
