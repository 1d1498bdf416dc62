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
  node::RunConfig run{.tick_microseconds = config.tick_microseconds,
                      .workers = config.workers,
                      .hash_seed = config.hash_seed,
                      .section = "[assets]"};
  for (const auto& mtu : config.mtus) run.ports.push_back({.mtu = mtu, .promiscuous = true});
  return run;
}

std::optional<Error> NetworkObserver::prepare(Config& config, const node::RunPlan& plan) {
  config.hash_seed = plan.hash_seed;
  config.workers.count = plan.worker_count;
  return {};
}

trace::TraceWords NetworkObserver::trace_words() {
  return {"observer", kAssetDropCauses, explanation};
}

control::MetricFamilies NetworkObserver::Running::metrics() {
  control::MetricList out("roost_assets_", "observer");
  const Result<Report> sample = own.sample();
  control::add_answer(sample.ok(), out);
  if (!sample) return out.take();
  const Report& report = sample.value();
  control::add_packets(report, kAssetDropCauses, out);
  control::add_ports(report, out);
  out.add_counters<FrameCounters>("frames", kFrameCounters, report.frames);
  out.add_counters<AssetCounters>("assets", kAssetCounters, report.assets);
  for (const Counter<StockReport>& one : kStockCounters)
    out.gauge("stock_" + std::string(one.name), std::string(one.help) + ".")
        .add({}, report.stock.*one.value);
  control::add_reloads(report, out);
  control::add_stages(report.running, out);
  return out.take();
}

}  // namespace roost::assets
