// The manual's tables of the observer are those of the code.
#include "tests/control/manual.h"
#include "apps/assets/control/report.h"
#include "roost/assets/asset_causes.h"

namespace roost::assets {
namespace {

const std::string kManual = ROOST_MANUAL;

TEST(AssetsManual, drop_causes_are_those_of_the_code) {
  control::expect_in_manual(kManual, "drop causes", control::drop_causes_table(kAssetDropCauses));
}

TEST(AssetsManual, counters_are_those_of_the_code) {
  std::string table(control::kCountersHead);
  table += control::counter_rows<FrameCounters>("frames", kFrameCounters);
  table += control::counter_rows<AssetCounters>("assets", kAssetCounters);
  table += control::counter_rows<StockReport>("stock", kStockCounters);
  table += control::packet_counter_rows("observer");
  table += control::device_counter_rows("observer");
  control::expect_in_manual(kManual, "counters", table);
}

}  // namespace
}  // namespace roost::assets
