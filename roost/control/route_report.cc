#include "roost/control/route_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "roost/control/report_json.h"

namespace roost::control {

namespace {

std::string via_text(const routing::NextHop& hop) {
  return hop.gateway ? hop.gateway->format() : "connected";
}

// Without the numbers that are no next hops.
std::span<const RouteReport::Hop> real_hops(const RouteReport& report) {
  return std::span(report.hops)
      .subspan(std::min(report.hops.size(), size_t{routing::RoutingTable::kLocal} + 1));
}

}  // namespace

void RouteReport::add(const routing::WorkerRoutes& routes) {
  for (size_t i = 0; i < routes.hops.size(); ++i) {
    if (i == hops.size()) hops.push_back({routes.table->hops[i], {}});
    add_counters<routing::HopCounters>(routing::kHopCounters, routes.hops[i].counters,
                                       hops[i].counters);
  }
  add_counters<routing::HopCounters>(routing::kHopCounters, routes.others, others);
}

uint64_t RouteReport::packets() const {
  uint64_t packets = others.packets;
  for (const Hop& hop : hops) packets += hop.counters.packets;
  return packets;
}

bool RoutedSampleRequest::step() {
  read();
  std::ranges::copy(worker_routes_.hops, routes.hops.begin());
  routes.others = worker_routes_.others;
  return true;
}

Json hops_json(const RouteReport& report) {
  Json hops = Json::array();
  for (const auto& [hop, counters] : real_hops(report)) {
    Json json = {{"via", via_text(hop)}, {"port", hop.out_port}};
    json.update(counters_json<routing::HopCounters>(routing::kHopCounters, counters));
    hops.push_back(std::move(json));
  }
  return hops;
}

Json routes_json(const routing::RoutingTable* table) {
  Json routes = Json::array();
  if (table == nullptr) return routes;
  for (const io::Fib::Route& route : table->routes) {
    if (route.hop == routing::RoutingTable::kLocal) continue;
    const routing::NextHop& hop = table->hops[route.hop];
    routes.push_back(
        {{"prefix", route.prefix.format()}, {"via", via_text(hop)}, {"port", hop.out_port}});
  }
  return routes;
}

void write_hops(const RouteReport& report, TextOut out) {
  fmt::format_to(out, "\n{:<40} {:>4}", "next hop", "port");
  write_heads<routing::HopCounters>(routing::kHopCounters, out);
  for (const auto& [hop, counters] : real_hops(report)) {
    fmt::format_to(out, "\n{:<40} {:>4}", via_text(hop), hop.out_port);
    write_cells<routing::HopCounters>(routing::kHopCounters, counters, out);
  }
  fmt::format_to(out, "\n{:<45}", "others");
  write_cells<routing::HopCounters>(routing::kHopCounters, report.others, out);
  fmt::format_to(out, "\n");
}

void check_routes(const RouteReport& routes, const RunReport& report, SumCheck& sums) {
  const net::DropCounts& drops = report.run.drops;
  sums.expect_equal(routes.packets() + report.echo_replies + report.run.originated,
                    report.sent + drops[net::DropCause::kTxRefused] +
                        drops[net::DropCause::kNoBuffer] + report.neighbours.counters.waited,
                    "packets of all next hops + echo replies + originated = packets sent + "
                    "tx_refused + no_buffer + waited does not hold");
}

void add_hops(const RouteReport& report, MetricList& out) {
  for (const Counter<routing::HopCounters>& counter : routing::kHopCounters) {
    out.counter(fmt::format("next_hop_{}_total", counter.name), std::string(counter.help) + ".");
    for (const auto& [hop, counters] : real_hops(report)) {
      out.add({{"via", via_text(hop)}, {"port", std::to_string(hop.out_port)}},
              counters.*counter.value);
    }
  }
}

}  // namespace roost::control
