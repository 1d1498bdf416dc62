// Everything the NAT knows while it runs: its network, its mappings and connections. One worker's;
// the table of routes is all workers'. `Tables`: where connections stand (conntrack/tables.h). The
// definitions are in state_impl.h.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "apps/nat/config/config.h"
#include "apps/nat/datapath/translation_counters.h"
#include "roost/base/result.h"
#include "roost/conntrack/mapped_ends.h"
#include "roost/conntrack/tables.h"
#include "roost/conntrack/tracker.h"
#include "roost/l3/icmp_error_counters.h"
#include "roost/l3/local_delivery.h"
#include "roost/l3/next_hops.h"
#include "roost/node/workers.h"
#include "roost/routing/routing_table.h"

namespace roost::conntrack {

extern template class ConnectionTable<MappedEnds>;

}  // namespace roost::conntrack

namespace roost::nat {

using conntrack::Held;

template <class Tables>
class BasicState {
 public:
  using Tracker = conntrack::FamilyTracker<conntrack::MappedEnds, Tables>;

  // The table of routes is the configuration's; without one nothing is routed, as in a check.
  // Errors: memory.
  static Result<BasicState> create(const Config& config, const node::WorkerSeat& seat,
                                   const Tables& tables = {});

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] routing::WorkerRoutes& routes() { return routes_; }
  [[nodiscard]] l3::NextHops& next_hops() { return next_hops_; }
  [[nodiscard]] l3::LocalCounters& local_counters() { return local_; }
  [[nodiscard]] l3::IcmpErrorCounters& icmp_errors() { return icmp_errors_; }
  [[nodiscard]] Held& held() { return *held_; }
  [[nodiscard]] Tracker& tracker() { return tracker_; }
  [[nodiscard]] TranslationCounters& counters() { return counters_; }
  [[nodiscard]] const conntrack::StateTimeouts& timeouts() const { return config_.timeouts; }
  [[nodiscard]] size_t worker() const { return worker_; }

  // What a reload changes at once; no allocation.
  void take_settings(const conntrack::StateTimeouts& timeouts, uint32_t ports_per_host) {
    config_.timeouts = timeouts;
    held_->mappings.set_ports_per_host(ports_per_host);
  }

  // Whether mappings and connections belong together; settle the connections first. Linear.
  [[nodiscard]] bool audit();

 private:
  BasicState(const Config& config, size_t worker, l3::NextHops next_hops,
             std::unique_ptr<Held> held, Tracker tracker)
      : config_(config),
        worker_(worker),
        next_hops_(std::move(next_hops)),
        routes_(routing::WorkerRoutes::of(config.table)),
        held_(std::move(held)),
        tracker_(std::move(tracker)) {}

  Config config_;
  size_t worker_;
  l3::NextHops next_hops_;
  routing::WorkerRoutes routes_;
  std::unique_ptr<Held> held_;
  Tracker tracker_;
  TranslationCounters counters_{};
  l3::LocalCounters local_{};
  l3::IcmpErrorCounters icmp_errors_{};
};

using State = BasicState<conntrack::OwnTables>;
extern template class BasicState<conntrack::OwnTables>;

}  // namespace roost::nat
