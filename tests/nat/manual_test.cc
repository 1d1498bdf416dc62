// The manual's tables of the NAT are those of the code.
#include "tests/control/manual.h"

#include "apps/nat/control/report.h"

namespace roost::nat {
namespace {

const std::string kNatManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kNatManual, "drop causes", control::drop_causes_table(kDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<TranslationCounters>("translated", kTranslationCounters);
  table +=
      control::counter_rows<conntrack::MappingCounters>("mappings", conntrack::kMappingCounters);
  table += control::counter_rows<conntrack::FlowCounts>("flows", conntrack::kFlowCounters);
  table +=
      control::counter_rows<conntrack::FragmentCounters>("fragments", conntrack::kFragmentCounters);
  table += control::counter_rows<routing::HopCounters>("next_hops", routing::kHopCounters);
  table += control::run_counter_rows("NAT");
  control::expect_in_manual(kNatManual, "counters", table);
}

}  // namespace
}  // namespace roost::nat
