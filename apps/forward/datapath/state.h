// Everything the router knows while it runs: its neighbours, and where packets go. Used by one
// worker; the table of routes is all workers'.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "apps/forward/config/config.h"
#include "roost/base/result.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/routing/routing_table.h"

namespace roost::forward {

class State {
 public:
  // `table`: null when nothing is routed, as for a check of the configuration or a wire.
  static Result<State> create(const Config& config, std::span<const net::MacAddress> device_macs,
                              std::shared_ptr<const routing::RoutingTable> table) {
    auto next_hops = routing::make_next_hops(config, device_macs);
    if (!next_hops) return next_hops.error();
    return State(config, std::move(next_hops).value(), routing::WorkerRoutes::of(std::move(table)));
  }

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] l3::NextHops& next_hops() { return next_hops_; }
  [[nodiscard]] routing::WorkerRoutes& routes() { return routes_; }
  [[nodiscard]] l3::IcmpErrorCounters& icmp_errors() { return icmp_errors_; }
  [[nodiscard]] l3::LocalCounters& local_counters() { return local_counters_; }

 private:
  State(Config config, l3::NextHops next_hops, routing::WorkerRoutes routes)
      : config_(std::move(config)), next_hops_(std::move(next_hops)), routes_(std::move(routes)) {}

  Config config_;
  l3::NextHops next_hops_;
  routing::WorkerRoutes routes_;
  l3::IcmpErrorCounters icmp_errors_{};
  l3::LocalCounters local_counters_{};
};

}  // namespace roost::forward
