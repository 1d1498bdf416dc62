// The manual's tables of the router are those of the code.
#include "tests/control/manual.h"

#include "roost/routing/forwarder.h"

namespace roost::forward {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes",
                            control::drop_causes_table(routing::kForwarderDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<routing::HopCounters>("next_hops", routing::kHopCounters);
  table += control::run_counter_rows("router");
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::forward
