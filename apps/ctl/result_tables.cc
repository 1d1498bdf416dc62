#include "apps/ctl/result_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "roost/config/message_text.h"

namespace roost::ctl {

namespace {

using Json = nlohmann::ordered_json;
using Names = std::initializer_list<std::string_view>;

std::string cell_text(const Json& value) {
  if (value.is_string()) return config::printable(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.10g}", value.get<double>());
  return value.is_null() ? "-" : value.dump();
}

// Rows of objects as a table: a column for each name, numbers to the right.
std::string table_of(const Json& rows, Names names) {
  std::vector<size_t> widths;
  std::vector<bool> is_number;
  for (const std::string_view name : names) {
    size_t width = name.size();
    bool are_numbers = !rows.empty();
    for (const Json& row : rows) {
      const Json cell = row.value(std::string(name), Json());
      width = std::max(width, cell_text(cell).size());
      are_numbers = are_numbers && cell.is_number();
    }
    widths.push_back(width);
    is_number.push_back(are_numbers);
  }
  std::string text;
  const auto line = [&](auto&& cell_of) {
    size_t column = 0;
    std::string cells;
    for (const std::string_view name : names) {
      cells += is_number[column] ? fmt::format("{:>{}}  ", cell_of(name), widths[column])
                                 : fmt::format("{:<{}}  ", cell_of(name), widths[column]);
      ++column;
    }
    cells.erase(cells.find_last_not_of(' ') + 1);
    text += cells + "\n";
  };
  line([](std::string_view name) { return std::string(name); });
  for (const Json& row : rows) {
    line([&](std::string_view name) { return cell_text(row.value(std::string(name), Json())); });
  }
  return text;
}

// Names and values, one a line; without those that are 0 if so wanted.
std::string list_of(const Json& object, bool with_zeroes) {
  size_t width = 0;
  for (const auto& [name, value] : object.items()) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : object.items()) {
    if (!with_zeroes && value == 0) continue;
    text += fmt::format("  {:<{}}  {:>16}\n", name, width, cell_text(value));
  }
  return text;
}

std::string workers_table(const Json& result) {
  Json cycles = Json::array();
  Json tables = Json::array();
  for (const Json& worker : result["workers"]) {
    Json row = worker["cycles_a_packet"];
    row["worker"] = worker["worker"];
    cycles.push_back(std::move(row));
    for (Json table : worker["tables"]) {
      table["worker"] = worker["worker"];
      tables.push_back(std::move(table));
    }
  }
  return table_of(result["workers"],
                  {"worker", "core", "packets", "batches", "flows_made", "flows_live"}) +
         "\ncycles a packet, by stage\n" +
         table_of(cycles, {"worker", "receive", "process", "transmit", "upkeep"}) + "\n" +
         table_of(tables, {"worker", "family", "used", "capacity", "bytes", "page_size", "kernel"});
}

std::string services_table(const Json& result) {
  std::string text;
  for (const Json& service : result["services"]) {
    text += fmt::format("{}{} {} {} {}\n", text.empty() ? "" : "\n", cell_text(service["name"]),
                        cell_text(service["endpoint"]), cell_text(service["protocol"]),
                        cell_text(service["mode"]));
    text += table_of(service["backends"], {"name", "endpoint", "flows", "packets", "bytes"});
  }
  return text;
}

std::string stats_table(const Json& result) {
  const std::string drops = list_of(result["drops"], false);
  return "packets\n" + list_of(result["packets"], true) + "flows\n" +
         list_of(result["flows"], true) + "drops by cause\n" +
         (drops.empty() ? "  none\n" : drops) + "\n" +
         table_of(result["ports"], {"device", "received", "received_bytes", "sent", "sent_bytes",
                                    "refused", "device_missed", "device_errors"}) +
         "\n" + workers_table(result);
}

std::string flows_table(const Json& result) {
  if (result.contains("deleted")) {
    return fmt::format("{} deleted\n", cell_text(result["deleted"]));
  }
  if (result.contains("by")) {
    return table_of(result["by"], {"service", "backend", "state", "flows"}) +
           fmt::format("{} in all\n", cell_text(result["flows"])) +
           list_of(result["classes"], true);
  }
  const bool has_local =
      std::ranges::any_of(result["flows"], [](const Json& flow) { return flow.contains("local"); });
  std::string text =
      has_local ? table_of(result["flows"], {"service", "protocol", "client", "virtual", "local",
                                             "backend", "endpoint", "state", "class", "worker"})
                : table_of(result["flows"], {"service", "protocol", "client", "virtual", "backend",
                                             "endpoint", "state", "class", "worker"});
  if (result.contains("cursor")) {
    text += fmt::format("there are more: --cursor {}\n", cell_text(result["cursor"]));
  }
  return text;
}

std::string trace_text(const Json& result) {
  std::string text;
  for (const Json& packet : result["packets"]) text += packet.get<std::string>() + "\n";
  return text + fmt::format("{} packets seen by {}, {} of them not kept, {} missed\n",
                            cell_text(result["seen"]), cell_text(result["filter"]),
                            cell_text(result["not_kept"]), cell_text(result["missed"]));
}

}  // namespace

std::string format_result(std::string_view command, const Json& result) {
  if (command == "stats") return stats_table(result);
  if (command == "services") return services_table(result);
  if (command == "backends") {
    return table_of(result["backends"],
                    {"service", "name", "endpoint", "state", "weight", "configured_weight",
                     "live_flows", "flows", "packets", "bytes"});
  }
  if (command == "backend") return table_of(result["changed"], {"service", "name", "weight"});
  if (command == "flows") return flows_table(result);
  if (command == "neighbours") {
    return table_of(result["neighbours"],
                    {"port", "address", "mac", "state", "configured", "waiting", "workers"});
  }
  if (command == "timeouts") return "timeouts, in seconds\n" + list_of(result["timeouts"], true);
  if (command == "trace") return trace_text(result);
  if (command == "workers") return workers_table(result);
  return list_of(result, true);
}

}  // namespace roost::ctl
