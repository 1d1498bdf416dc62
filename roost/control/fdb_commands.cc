#include "roost/control/fdb_commands.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "roost/bridge/fdb_walk.h"
#include "roost/bridge/station.h"
#include "roost/control/fdb_file.h"
#include "roost/control/fdb_filter.h"

namespace roost::control {

namespace {

using bridge::FdbKey;
using bridge::FdbValue;

constexpr uint64_t kFdbRowsDefault = 100;
constexpr uint64_t kFdbRowsMax = 10'000;

Json row_json(const FdbKey& key, FdbValue value) {
  return {{"vlan", key.vlan()},
          {"mac", key.mac().format()},
          {"port", fdb_port_json(value)},
          {"kind", bridge::kind_name(value)}};
}

// A page is of whole buckets, and has as many rows as the last of them brings.
Result<Json> list(const FdbFilter& filter, const Json& parameters, const FdbSource& source) {
  const auto limit = parse_number(parameters, "limit", 1, kFdbRowsMax);
  if (!limit) return limit.error();
  const uint64_t end = source.fdb.bucket_count();
  const auto cursor = parse_cursor<1>(parameters, end);
  if (!cursor) return cursor.error();
  uint64_t bucket = cursor.value()[0];
  const Result<Tick> now = source.now();
  if (!now) return now.error();
  const bridge::Ageing& ageing = source.fdb.ageing();
  const uint64_t sixteenth = ageing.sixteenth(now.value());
  const auto reader = source.fdb.reader();
  Json rows = Json::array();
  for (; bucket < end && rows.size() < limit.value().value_or(kFdbRowsDefault); ++bucket) {
    reader.visit_bucket(BucketIndex{bucket}, [&](const FdbKey& key, FdbValue value) {
      if (!filter.admits(key, value)) return;
      Json row = row_json(key, value);
      if (!value.is_static()) {
        const auto ticks = static_cast<double>(ageing.ticks_since_seen(value, sixteenth));
        row["age_seconds"] = ticks * source.tick_seconds;
      }
      rows.push_back(std::move(row));
    });
  }
  Json json = {{"rows", std::move(rows)}};
  if (bucket < end) json["cursor"] = std::to_string(bucket);
  return json;
}

// By VLAN, port and kind.
Json count(const FdbFilter& filter, const FdbSource& source) {
  std::map<std::tuple<uint16_t, uint16_t, bool>, uint64_t> counts;
  uint64_t sum = 0;
  bridge::walk(source.fdb, [&](const FdbKey& key, FdbValue value) {
    if (!filter.admits(key, value)) return;
    ++counts[{key.vlan(), value.port(), value.is_static()}];
    ++sum;
  });
  Json rows = Json::array();
  for (const auto& [what, entries] : counts) {
    const auto& [vlan, port, is_static] = what;
    rows.push_back({{"vlan", vlan},
                    {"port", bridge::port_text(port)},
                    {"kind", is_static ? "static" : "learned"},
                    {"entries", entries}});
  }
  return {{"entries", sum}, {"by", std::move(rows)}};
}

Error no_static_room(const FdbSource& source) {
  return Error{fmt::format("there is room for {} static entries; delete some, or {}",
                           source.static_max, source.static_advice)};
}

Result<Json> add(const FdbFilter& station, bool drops, const FdbSource& source) {
  if (!station.vlan || !station.mac_word || drops == station.port.has_value()) {
    return Error{"add: give vlan, mac, and port or drop"};
  }
  const FdbKey key(*station.vlan, *station.mac_word);
  const uint16_t port = station.port.value_or(FdbValue::kNoPort);
  std::string why = bridge::why_not_there(key, port, source.port_count, source.vlans);
  if (!why.empty()) return Error{std::move(why)};
  if (!source.fdb.write().add_static(key, port)) return no_static_room(source);
  return Json{{"added", 1}};
}

Result<Json> erase(const FdbFilter& station, const FdbSource& source) {
  if (!station.vlan || !station.mac_word) return Error{"delete: give vlan and mac"};
  const FdbKey key(*station.vlan, *station.mac_word);
  const bool is_erased =
      source.fdb.write().erase_if(key, [&](FdbValue value) { return station.admits(key, value); });
  if (!is_erased) return Error{"there is no such entry"};
  return Json{{"deleted", 1}};
}

Json flush(FdbFilter filter, const FdbSource& source) {
  if (!filter.is_static) filter.is_static = false;
  return {{"flushed", bridge::erase_from_fdb(source.fdb, [&](const FdbKey& key, FdbValue value) {
             return filter.admits(key, value);
           })}};
}

// Into a file beside it first, so that a file of before stays whole if this fails.
Result<Json> export_to(const std::string& path, const FdbFilter& filter, const FdbSource& source) {
  const std::string unfinished = path + ".new";
  std::ofstream file(unfinished);
  file << kFdbFileHead << '\n';
  uint64_t exported = 0;
  bridge::walk(source.fdb, [&](const FdbKey& key, FdbValue value) {
    if (!filter.admits(key, value)) return;
    file << format_line(key, value) << '\n';
    ++exported;
  });
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  if (!file || error) {
    std::filesystem::remove(unfinished, error);
    return Error{path + " cannot be written; give a path where this program may write"};
  }
  return Json{{"exported", exported}};
}

// How many static entries there would be after these lines. Nobody but this thread adds any.
uint64_t static_count_after(std::span<const FdbLine> lines, bridge::Fdb& fdb) {
  std::vector<FdbKey> keys;
  for (const FdbLine& line : lines) {
    if (line.is_static) keys.push_back(line.key);
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return fdb.write().static_count() + keys.size() - bridge::count_static(fdb, keys);
}

// False: it is refused, for room or because it moved too often.
bool import_line(const FdbLine& line, Tick now, bridge::Fdb::Writer& writer) {
  if (line.is_static) return writer.add_static(line.key, line.port);
  const bridge::Learned outcome = writer.import(line.key, line.port, now);
  return outcome != bridge::Learned::kRefused && outcome != bridge::Learned::kHeld;
}

// Static entries all or none; learned ones as if their frames came in now, as far as there is room.
Result<Json> import_from(const std::string& path, const FdbSource& source) {
  const auto lines = read_fdb_file(path, source.port_count, source.vlans);
  if (!lines) return lines.error();
  const Result<Tick> now = source.now();
  if (!now) return now.error();
  const std::span<const FdbLine> all(lines.value());
  if (static_count_after(all, source.fdb) > source.static_max) {
    return Error{path + ": " + no_static_room(source).message + "; nothing was imported"};
  }
  uint64_t imported = 0;
  bridge::write_in_pieces(source.fdb, all, [&](bridge::Fdb::Writer& writer, const FdbLine& line) {
    imported += import_line(line, now.value(), writer) ? 1U : 0U;
  });
  return Json{{"imported", imported}, {"refused", all.size() - imported}};
}

}  // namespace

Json fdb_port_json(FdbValue value) {
  return value.port() == FdbValue::kNoPort ? Json("drop") : Json(value.port());
}

Json fdb_view(const Json& result) {
  View view;
  if (result.contains("by")) {
    view.table("/by", {"vlan", "port", "kind", "entries"});
    return view.text(fmt::format("{} in all", result["entries"].get<uint64_t>())).take();
  }
  if (!result.contains("rows")) return list_view(result);
  view.table("/rows", {"vlan", "mac", "port", "kind", "age_seconds"});
  if (result.contains("cursor")) {
    view.text("there are more: --cursor " + result["cursor"].get<std::string>());
  }
  return view.take();
}

Result<Json> run_fdb(const Json& parameters, const FdbSource& source) {
  const Result<FdbFilter> parsed = parse_filter(parameters, source.port_count);
  if (!parsed) return parsed.error();
  const FdbFilter& filter = parsed.value();
  const std::string action = parameters.value("action", "list");
  const std::string path = parameters.value("path", "");
  const bool is_file = action == "import" || action == "export";
  if (is_file == path.empty()) {
    return Error{action + (is_file ? ": give the path of a file" : " takes no path")};
  }
  if (action == "count") return count(filter, source);
  if (action == "add") return add(filter, parameters.value("drop", false), source);
  if (action == "delete") return erase(filter, source);
  if (action == "flush") return flush(filter, source);
  if (action == "import") return import_from(path, source);
  if (action == "export") return export_to(path, filter, source);
  return list(filter, parameters, source);
}

}  // namespace roost::control
