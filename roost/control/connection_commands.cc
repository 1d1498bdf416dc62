#include "roost/control/connection_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "roost/conntrack/connection_state.h"

namespace roost::control {

namespace {

constexpr const auto& kStateNames = conntrack::kConnectionStateNames;
constexpr const auto& kClassNames = conntrack::kFlowClassNames;

constexpr size_t kRowsDefault = 100;
constexpr size_t kRowsMax = 1'000;

struct PageCursor {
  size_t worker = 0;
  ConnectionPlace place{};
};

Result<PageCursor> parse_page_cursor(const Json& parameters, size_t worker_count) {
  const auto numbers = parse_cursor<3>(parameters, worker_count);
  if (!numbers) return numbers.error();
  const auto [worker, family, slot] = numbers.value();
  if (family > 1) return wrong_cursor();
  return PageCursor{worker, {.family = family, .slot = slot}};
}

Result<ConnectionFilter> parse_filter(const Json& parameters,
                                      std::array<std::vector<bool>, 2> owners) {
  ConnectionFilter filter{.owners = std::move(owners)};
  const std::string state = parameters.value("state", "");
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    filter.states[i] = state.empty() || kStateNames[i] == state;
  }
  const std::string flow_class = parameters.value("class", "");
  for (size_t i = 0; i < kClassNames.size(); ++i) {
    filter.classes[i] = flow_class.empty() || kClassNames[i] == flow_class;
  }
  const Result<std::optional<net::IpPrefix>> client = parse_prefix(parameters, "client");
  if (!client) return client.error();
  filter.client = client.value();
  return filter;
}

Json row_json(size_t worker, const ConnectionRow& row, const ConnectionSource& source) {
  Json json = {{"worker", worker}};
  source.describe(row, json);
  json["state"] = connection_state_name(row.state);
  json["class"] = kClassNames[static_cast<size_t>(row.flow_class)];
  if (row.bound_address) json["local"] = net::endpoint_text(*row.bound_address, row.bound_port);
  return json;
}

// Worker after worker, until the page is full.
Result<Json> list_connections(const Json& parameters, const ConnectionFilter& filter,
                              const ConnectionSource& source) {
  const double limit = parameters.contains("limit") ? parameters["limit"].get<double>()
                                                    : static_cast<double>(kRowsDefault);
  if (!(limit >= ConnectionWalk::kRowsMin && limit <= kRowsMax)) {
    return Error{fmt::format("limit: give {} to {}", ConnectionWalk::kRowsMin, kRowsMax)};
  }
  const Result<PageCursor> begin = parse_page_cursor(parameters, source.worker_count);
  if (!begin) return begin.error();
  PageCursor cursor = begin.value();
  const auto rows_max = static_cast<size_t>(limit);
  Json rows = Json::array();
  while (cursor.worker < source.worker_count &&
         rows.size() + ConnectionWalk::kRowsMin <= rows_max) {
    const auto walk = source.walk(
        cursor.worker, {ConnectionAction::kList, &filter, cursor.place, rows_max - rows.size()});
    std::vector<node::Request*> posted(source.worker_count);
    posted[cursor.worker] = walk.get();
    if (auto error = source.ask(posted)) return *error;
    for (const ConnectionRow& row : walk->rows) {
      rows.push_back(row_json(cursor.worker, row, source));
    }
    cursor.place = walk->place;
    if (!walk->place.is_end()) break;
    cursor = PageCursor{cursor.worker + 1, {}};
  }
  Json json = {{"flows", std::move(rows)}};
  if (cursor.worker < source.worker_count) {
    json["cursor"] = fmt::format("{}.{}.{}", cursor.worker, cursor.place.family, cursor.place.slot);
  }
  return json;
}

using Walks = std::vector<std::unique_ptr<ConnectionWalk>>;

template <class Count>
uint64_t sum(const Walks& walks, const Count& count) {
  uint64_t sum = 0;
  for (const auto& walk : walks) sum += count(*walk);
  return sum;
}

// By owner and state.
Json count_rows(const Walks& walks, const ConnectionFilter& filter,
                const ConnectionSource& source) {
  Json rows = Json::array();
  for (size_t family = 0; family < filter.owners.size(); ++family) {
    for (uint32_t owner = 0; owner < filter.owners[family].size(); ++owner) {
      for (size_t state = 0; state < kStateNames.size(); ++state) {
        const uint64_t count = sum(
            walks, [&](const ConnectionWalk& walk) { return walk.counts[family][owner][state]; });
        if (count == 0) continue;
        Json row = Json::object();
        source.describe_owner(family, owner, row);
        row["state"] = kStateNames[state];
        row["flows"] = count;
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

// All workers at the same time, over their whole tables.
Result<Json> walk_connections(ConnectionAction action, const ConnectionFilter& filter,
                              const ConnectionSource& source) {
  Walks walks;
  std::vector<node::Request*> posted;
  for (size_t worker = 0; worker < source.worker_count; ++worker) {
    posted.push_back(walks.emplace_back(source.walk(worker, {action, &filter, {}, 0})).get());
  }
  const std::optional<Error> error = source.ask(posted);
  const uint64_t matched = sum(walks, [](const ConnectionWalk& walk) { return walk.matched; });
  if (action == ConnectionAction::kDelete) {
    if (error) return Error{fmt::format("{}; {} were deleted", error->message, matched)};
    return Json{{"deleted", matched}};
  }
  if (error) return *error;
  Json classes;
  for (size_t i = 0; i < kClassNames.size(); ++i) {
    classes[kClassNames[i]] =
        sum(walks, [&](const ConnectionWalk& walk) { return walk.class_counts[i]; });
  }
  return Json{{"flows", matched},
              {"classes", std::move(classes)},
              {"by", count_rows(walks, filter, source)}};
}

}  // namespace

Result<Json> run_connections(const Json& parameters, std::array<std::vector<bool>, 2> owners,
                             bool is_filtered, const ConnectionSource& source) {
  const Result<ConnectionFilter> filter = parse_filter(parameters, std::move(owners));
  if (!filter) return filter.error();
  const std::string action = parameters.value("action", "list");
  if (action == "list") return list_connections(parameters, filter.value(), source);
  if (action == "count") {
    return walk_connections(ConnectionAction::kCount, filter.value(), source);
  }
  for (const char* name : {"client", "state", "class"}) {
    is_filtered = is_filtered || parameters.contains(name);
  }
  if (!is_filtered && !parameters.value("all", false)) {
    return Error{"this would delete every connection; give a filter, or all"};
  }
  return walk_connections(ConnectionAction::kDelete, filter.value(), source);
}

Json connections_view(const Json& result, View::Columns columns,
                      const View::Columns& count_columns) {
  View view;
  if (result.contains("deleted")) {
    return view.text(fmt::format("{} deleted", result["deleted"].get<uint64_t>())).take();
  }
  if (result.contains("by")) {
    view.table("/by", count_columns);
    view.text(fmt::format("{} in all", result["flows"].get<uint64_t>())).list("/classes");
    return view.take();
  }
  if (std::ranges::none_of(result["flows"],
                           [](const Json& flow) { return flow.contains("local"); })) {
    std::erase(columns, "local");
  }
  view.table("/flows", columns);
  if (result.contains("cursor")) {
    view.text("there are more: --cursor " + result["cursor"].get<std::string>());
  }
  return view.take();
}

}  // namespace roost::control
