// The manual's tables of the firewall are those of the code, and its example is a configuration.
#include "tests/control/manual.h"

#include "apps/firewall/control/report.h"

namespace roost::firewall {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes",
                            control::drop_causes_table(kFirewallDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<FilterCounters>("filter", kFilterCounters);
  table += control::counter_rows<conntrack::FlowCounts>("connections", conntrack::kFlowCounters);
  table +=
      control::counter_rows<conntrack::FragmentCounters>("fragments", conntrack::kFragmentCounters);
  table += control::counter_rows<l3::ResetCounters>("resets", l3::kResetCounters);
  table += control::counter_rows<routing::HopCounters>("next_hops", routing::kHopCounters);
  table += control::run_counter_rows("firewall");
  control::expect_in_manual(kManual, "counters", table);
}

TEST(Manual, the_example_is_a_configuration) {
  const ConfigOutcome outcome = read_config(ROOST_EXAMPLE);
  for (const config::Fault& fault : outcome.faults) {
    ADD_FAILURE() << config::describe(fault, ROOST_EXAMPLE);
  }
  ASSERT_TRUE(outcome.config.has_value());
  EXPECT_EQ(outcome.config->rules.size(), 7U);
}

}  // namespace
}  // namespace roost::firewall
