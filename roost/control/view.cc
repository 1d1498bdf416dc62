#include "roost/control/view.h"

#include <fmt/format.h>

#include <algorithm>

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
  view.text("").table("/ports", {"device", "received", "received_bytes", "sent", "sent_bytes",
                                 "refused", "device_missed", "device_errors"});
}

void add_workers(const Json& workers, const View::Columns& own_columns,
                 const View::Columns& table_columns, View& view) {
  View::Columns columns = {"worker", "core", "packets", "batches"};
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
  view.table(std::move(cycles), {"worker", "receive", "process", "transmit", "upkeep"});
  if (table_columns.empty()) return;
  view.text("").table(std::move(tables), table_columns);
}

Json workers_view(const Json& result) {
  View view;
  add_workers(result["workers"], {}, {}, view);
  return view.take();
}

}  // namespace roost::control
