#include "apps/assets/control/report.h"

#include <iterator>
#include <utility>

#include "roost/assets/asset_causes.h"
#include "roost/control/report_json.h"
#include "roost/control/report_text.h"

namespace roost::assets {

void add_observed(const Observer& state, bool counts_each, Report& report) {
  const AssetCounters& assets = state.table().counters();
  add_counters<FrameCounters>(kFrameCounters, state.frames(), report.frames);
  add_counters<AssetCounters>(kAssetCounters, assets, report.assets);
  report.stock.hosts += state.table().hosts().size();
  report.stock.services +=
      counts_each ? state.table().count_services()
                  : assets.services_found - assets.services_evicted - assets.services_left;
  report.stock.bytes += state.memory_bytes();
}

Report make_report(std::span<Observer* const> states, node::RunTotals run) {
  Report report;
  report.run = std::move(run);
  control::add_up_ports(report);
  for (const Observer* state : states) add_observed(*state, true, report);
  return report;
}

std::vector<std::string> broken_sums(const Report& report) {
  control::SumCheck sums;
  sums.check_run(report, kAssetDropCauses);
  const auto& [from_hosts, no_host, foreign, questions_lost, log_lost] = report.frames;
  sums.expect_equal(report.run.consumed, from_hosts + no_host + foreign,
                    "packets consumed = from_hosts + no_host + foreign does not hold");
  sums.expect_equal(report.sent, 0, "nothing may be sent, and something was");
  const AssetCounters& assets = report.assets;
  sums.expect_equal(assets.hosts_found, assets.hosts_evicted + report.stock.hosts,
                    "hosts found = evicted + there does not hold");
  sums.expect_equal(assets.services_found,
                    assets.services_evicted + assets.services_left + report.stock.services,
                    "services found = evicted + left + there does not hold");
  return sums.take();
}

std::string format_text(const Report& report) {
  std::string text;
  const control::TextOut out = std::back_inserter(text);
  const auto nothing = [](auto&&...) {};
  control::write_ports(report, "observer", out);
  control::write_captures(report, out);
  control::write_workers(report, nothing, nothing, out);
  control::write_counts<FrameCounters>("frames", kFrameCounters, report.frames, out);
  control::write_counts<AssetCounters>("assets", kAssetCounters, report.assets, out);
  control::write_counts<StockReport>("there now", kStockCounters, report.stock, out);
  control::write_drops(report, kAssetDropCauses, out);
  control::write_cycles(report, out);
  return text;
}

control::Json report_json(const Report& report) {
  using control::counters_json;
  control::Json json = control::first_part_json(report, kAssetDropCauses);
  json["frames"] = counters_json<FrameCounters>(kFrameCounters, report.frames);
  json["assets"] = counters_json<AssetCounters>(kAssetCounters, report.assets);
  json["stock"] = counters_json<StockReport>(kStockCounters, report.stock);
  json.update(control::last_part_json(report));
  return json;
}

std::string format_json(const Report& report) {
  return control::format_json(report_json(report), report, broken_sums(report));
}

}  // namespace roost::assets
