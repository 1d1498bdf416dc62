// What functions that forward by routes report of them, and how a reload exchanges them.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/control/json.h"
#include "roost/control/metrics.h"
#include "roost/control/report_text.h"
#include "roost/control/run_report.h"
#include "roost/control/sample_request.h"
#include "roost/node/mailbox.h"
#include "roost/routing/routing_table.h"

namespace roost::control {

// Of all workers together.
struct RouteReport {
  struct Hop {
    routing::NextHop hop{};
    routing::HopCounters counters{};
  };
  std::vector<Hop> hops{};        // those that the table has
  routing::HopCounters others{};  // as in WorkerRoutes

  // Adds what a worker counted; all have the same table.
  void add(const routing::WorkerRoutes& routes);
  [[nodiscard]] uint64_t packets() const;  // by all hops and others
};

// Every number of a worker, and its routes' counters.
class RoutedSampleRequest : public SampleRequest {
 public:
  // All memory is had here; control has the same table as the worker.
  RoutedSampleRequest(const WorkerHandle& worker, const routing::WorkerRoutes& worker_routes,
                      size_t port_count)
      : SampleRequest(worker, port_count),
        routes(routing::WorkerRoutes::of(worker_routes.table)),
        worker_routes_(worker_routes) {}
  bool step() override;

  routing::WorkerRoutes routes;

 private:
  const routing::WorkerRoutes& worker_routes_;
};

// [{"via", "port", "packets", "bytes"}]; a gateway, or "connected".
[[nodiscard]] Json hops_json(const RouteReport& report);
// [{"prefix", "via", "port"}] of a table, the function's own addresses left out.
[[nodiscard]] Json routes_json(const routing::RoutingTable* table);
void write_hops(const RouteReport& report, TextOut out);
// What leaves went by a route, or is the function's own.
void check_routes(const RouteReport& routes, const RunReport& report, SumCheck& sums);
void add_hops(const RouteReport& report, MetricList& out);

// Has a worker take other routes.
class RoutesRequest final : public node::Request {
 public:
  RoutesRequest(routing::WorkerRoutes& routes, std::shared_ptr<const routing::RoutingTable> table)
      : routes_(routes), next_(routing::WorkerRoutes::of(std::move(table))) {}
  bool step() override {
    routes_.exchange(next_);
    return true;
  }

 private:
  routing::WorkerRoutes& routes_;
  routing::WorkerRoutes next_;  // afterwards what it replaced
};

}  // namespace roost::control
