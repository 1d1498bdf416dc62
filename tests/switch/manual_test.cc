// The manual's tables of the switch are those of the code.
#include "tests/control/manual.h"

#include "apps/switch/control/report.h"
#include "roost/bridge/switch_causes.h"

namespace roost::switching {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(Manual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes",
                            control::drop_causes_table(bridge::kSwitchDropCauses));
}

TEST(Manual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<bridge::SwitchCounters>("frames", bridge::kSwitchCounters);
  table += control::counter_rows<bridge::LearnCounters>("stations", bridge::kLearnCounters);
  table += control::counter_rows<FdbReport>("fdb", kFdbReportCounters);
  table += control::counter_rows<bridge::FdbCounters>("fdb", bridge::kFdbCounters);
  table += control::packet_counter_rows("switch");
  table += control::device_counter_rows("switch");
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::switching
