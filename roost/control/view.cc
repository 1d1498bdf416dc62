#include "roost/control/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "roost/node/run_totals.h"

namespace roost::control {

View& View::text(std::string line) {
  blocks_.push_back({{"text", std::move(line)}});
  return *this;
}

View& View::list(Json where, Zeroes zeroes) {
  Json block = {{"list", std::move(where)}};
  if (zeroes == Zeroes::kLeftOut) block["without_zeroes"] = true;
  blocks_.push_back(std::move(block));
  return *this;
}

View& View::table(Json where, const Columns& columns) {
  Json names = Json::array();
  for (const std::string_view name : columns) names.push_back(name);
  blocks_.push_back({{"rows", std::move(where)}, {"columns", std::move(names)}});
  return *this;
}

Json list_view(const Json&) { return View().list("").take(); }

Json neighbours_view(const Json&) {
  return View()
      .table("/neighbours", {"port", "address", "mac", "state", "configured", "waiting", "workers"})
      .take();
}

Json trace_view(const Json& result) {
  View view;
  for (const Json& packet : result["packets"]) view.text(packet.get<std::string>());
  view.text(fmt::format("{} packets seen by {}, {} of them not kept, {} missed",
                        result["seen"].dump(), result["filter"].get<std::string>(),
                        result["not_kept"].dump(), result["missed"].dump()));
  return view.take();
}

void add_packets_and_drops(const Json& result, const std::function<void()>& add_own, View& view) {
  view.text("packets").list("/packets");
  add_own();
  view.text("drops by cause");
  const bool has_drops =
      std::ranges::any_of(result["drops"], [](const Json& count) { return count != 0; });
  if (has_drops) {
    view.list("/drops", View::Zeroes::kLeftOut);
  } else {
    view.text("  none");
  }
  // What found no buffer stands in the drops.
  constexpr std::span kPortColumns = io::kReportedPortCounters.first<5>();
  view.text("").table("/ports", with_counters<node::DeviceLosses>(
                                    with_counters<io::PortCounters>({"device"}, kPortColumns),
                                    node::kDeviceLosses));
}

void add_workers(const Json& workers, const View::Columns& own_columns,
                 const View::Columns& table_columns, View& view) {
  // Times stand there as a share.
  constexpr std::span kTurnColumns = std::span(node::kTurnCounters).first<2>();
  View::Columns columns =
      with_counters<node::TurnCounters>({"worker", "core", "packets"}, kTurnColumns);
  columns.emplace_back("cpu_share");
  columns.insert(columns.end(), own_columns.begin(), own_columns.end());
  Json cycles = Json::array();
  Json tables = Json::array();
  for (const Json& worker : workers) {
    Json row = {{"worker", worker["worker"]}};
    row.update(worker["cycles_a_packet"]);
    cycles.push_back(std::move(row));
    if (!worker.contains("tables")) continue;
    for (Json table : worker["tables"]) {
      table["worker"] = worker["worker"];
      tables.push_back(std::move(table));
    }
  }
  view.table("/workers", columns);
  view.text("").text("cycles a packet, by stage");
  View::Columns stages = {"worker"};
  for (const auto& [name, stage] : node::kStages) stages.push_back(name);
  view.table(std::move(cycles), stages);
  if (table_columns.empty()) return;
  view.text("").table(std::move(tables), table_columns);
}

Json workers_view(const Json& result) {
  View view;
  add_workers(result["workers"], {}, {}, view);
  return view.take();
}

}  // namespace roost::control
