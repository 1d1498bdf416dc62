#include "apps/assets/control/network_observer.h"

#include <fmt/format.h>

#include "roost/assets/asset_causes.h"
#include "roost/control/metrics.h"

namespace roost::assets {

std::string NetworkObserver::summary_of(const Config& config) {
  return fmt::format(
      "{} ports, {} networks; room for {} hosts of each worker and {} services of each host; a "
      "tick of {:g} s.",
      config.mtus.size(), config.networks.size(), config.hosts_max, config.services_max,
      config.tick_seconds());
}

node::RunConfig NetworkObserver::run_config(const Config& config) {
  std::vector<io::Port::Config> ports;
  for (const auto& mtu : config.mtus) ports.push_back({.mtu = mtu, .promiscuous = true});
  return node::run_config_of(config, "[assets]", std::move(ports));
}

std::optional<Error> NetworkObserver::prepare(Config& config, const node::RunPlan& plan) {
  node::take_plan(config, plan);
  return {};
}

trace::TraceWords NetworkObserver::trace_words() {
  return {"observer", kAssetDropCauses, explanation};
}

control::MetricFamilies NetworkObserver::Running::metrics() {
  return sampled(kNames, kAssetDropCauses, [](const Report& report, control::MetricList& out) {
    out.add_counters<FrameCounters>("frames", kFrameCounters, report.frames);
    out.add_counters<AssetCounters>("assets", kAssetCounters, report.assets);
    for (const Counter<StockReport>& one : kStockCounters)
      out.gauge("stock_" + std::string(one.name), std::string(one.help) + ".")
          .add({}, report.stock.*one.value);
  });
}

}  // namespace roost::assets
