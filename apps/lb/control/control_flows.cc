// What the control shows of connections, one by one: pages of them, counts, and deleting them.
//
// A page's cursor is "worker.family.slot": where the walk goes on. Pages are of a table that
// changes: every connection that is there all the time is listed once, unless an insert moved it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "apps/lb/control/control.h"

namespace roost::lb {

namespace {

constexpr const auto& kStateNames = conntrack::kConnectionStateNames;
constexpr const auto& kClassNames = conntrack::kFlowClassNames;

constexpr size_t kRowsDefault = 100;
constexpr size_t kRowsMax = 1'000;

struct PageCursor {
  size_t worker = 0;
  FlowPlace place{};
};

std::optional<PageCursor> parse_cursor(const std::string& text) {
  PageCursor cursor;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& value, bool is_last) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (is_last ? next != end : next == end || *next != '.')) return false;
    at = is_last ? next : next + 1;
    return true;
  };
  if (!number(cursor.worker, false) || !number(cursor.place.family, false) ||
      !number(cursor.place.slot, true) || cursor.place.family > 1) {
    return {};
  }
  return cursor;
}

Result<std::optional<net::IpPrefix>> parse_client(const std::string& text) {
  if (text.empty()) return std::optional<net::IpPrefix>();
  if (text.find('/') != std::string::npos) {
    const Result<net::IpPrefix> prefix = net::IpPrefix::parse(text);
    if (prefix) return std::optional(prefix.value());
  } else if (const Result<net::IpAddress> address = net::IpAddress::parse(text)) {
    return std::optional(net::IpPrefix{address.value(), address.value().bit_count()});
  }
  return Error{"client: give a prefix like 192.0.2.0/24, or an address"};
}

bool has_filter(const Json& parameters) {
  return std::ranges::any_of(std::array{"service", "backend", "client", "state", "class"},
                             [&](const char* name) { return parameters.contains(name); });
}

}  // namespace

std::string_view connection_state_name(ConnectionState state) {
  return kStateNames[static_cast<size_t>(state)];
}

Result<FlowFilter> Control::filter_of(const Json& parameters) const {
  FlowFilter filter;
  const std::string service = parameters.value("service", "");
  const std::string backend = parameters.value("backend", "");
  const std::string state = parameters.value("state", "");
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    filter.states[i] = state.empty() || kStateNames[i] == state;
  }
  const std::string flow_class = parameters.value("class", "");
  for (size_t i = 0; i < kClassNames.size(); ++i) {
    filter.classes[i] = flow_class.empty() || kClassNames[i] == flow_class;
  }
  bool is_any = false;
  for (size_t family = 0; family < registry_.families.size(); ++family) {
    const FamilyRegistry& registry = registry_.families[family];
    for (const RegisteredBackend& one : registry.backends) {
      filter.backends[family].push_back(
          one.use != Registration::kFree &&
          (service.empty() || registry.services[one.service].name == service) &&
          (backend.empty() || one.name == backend));
      is_any = is_any || filter.backends[family].back();
    }
  }
  if (!is_any) return Error{"there is no such service with such a backend"};
  Result<std::optional<net::IpPrefix>> client = parse_client(parameters.value("client", ""));
  if (!client) return client.error();
  filter.client = client.value();
  return filter;
}

Result<Json> Control::flows(const Json& parameters) {
  const std::string action = parameters.value("action", "list");
  const Result<FlowFilter> filter = filter_of(parameters);
  if (!filter) return filter.error();
  if (action == "list") return list_flows(parameters, filter.value());
  if (action == "count") return walk_flows(FlowsRequest::Action::kCount, filter.value());
  if (!has_filter(parameters) && !parameters.value("all", false)) {
    return Error{"this would delete every connection; give a filter, or all"};
  }
  return walk_flows(FlowsRequest::Action::kDelete, filter.value());
}

Json Control::row_json(size_t worker, size_t family, const FlowRow& row) const {
  const RegisteredBackend& backend = registry_.families[family].backends[row.backend];
  const RegisteredService& service = registry_.families[family].services[backend.service];
  Json json = {{"worker", worker},
               {"service", service.name},
               {"protocol", service.protocol == net::IpProtocol::kTcp ? "tcp" : "udp"},
               {"client", endpoint_text(row.client, row.client_port)},
               {"virtual", endpoint_text(service.address, service.port)},
               {"backend", backend.name},
               {"endpoint", endpoint_text(backend.address, backend.port)},
               {"state", connection_state_name(row.state)},
               {"class", kClassNames[static_cast<size_t>(row.flow_class)]}};
  if (row.local) json["local"] = endpoint_text(row.local->first, row.local->second);
  return json;
}

// Worker after worker, until the page is full.
Result<Json> Control::list_flows(const Json& parameters, const FlowFilter& filter) {
  const double limit = parameters.contains("limit") ? parameters["limit"].get<double>()
                                                    : static_cast<double>(kRowsDefault);
  if (!(limit >= FlowsRequest::kRowsMin && limit <= kRowsMax)) {
    return Error{fmt::format("limit: give {} to {}", FlowsRequest::kRowsMin, kRowsMax)};
  }
  const std::string text = parameters.value("cursor", "0.0.0");
  std::optional<PageCursor> cursor = parse_cursor(text);
  if (!cursor || cursor->worker >= states_.size()) {
    return Error{"cursor: give that of the page before"};
  }
  const auto rows_max = static_cast<size_t>(limit);
  Json rows = Json::array();
  while (cursor->worker < states_.size() && rows.size() + FlowsRequest::kRowsMin <= rows_max) {
    FlowsRequest request(*states_[cursor->worker], {FlowsRequest::Action::kList, &filter,
                                                    cursor->place, rows_max - rows.size()});
    std::vector<node::Request*> posted(states_.size());
    posted[cursor->worker] = &request;
    if (auto error = ask(posted)) return *error;
    for (const FlowRow& row : request.rows) {
      rows.push_back(row_json(cursor->worker, row.client.is_ipv6() ? 1 : 0, row));
    }
    cursor->place = request.place;
    if (!request.place.is_end()) break;
    cursor = PageCursor{cursor->worker + 1, {}};
  }
  Json json = {{"flows", std::move(rows)}};
  if (cursor->worker < states_.size()) {
    json["cursor"] =
        fmt::format("{}.{}.{}", cursor->worker, cursor->place.family, cursor->place.slot);
  }
  return json;
}

// All workers at the same time, over their whole tables.
Result<Json> Control::walk_flows(FlowsRequest::Action action, const FlowFilter& filter) {
  control::Requests<FlowsRequest> requests;
  for (State* state : states_) {
    requests.add(*state, FlowsRequest::Config{action, &filter, {}, 0});
  }
  const auto error = ask(requests.posted());
  uint64_t matched = 0;
  for (const FlowsRequest& request : requests) matched += request.matched;
  if (action == FlowsRequest::Action::kDelete) {
    if (error) return Error{fmt::format("{}; {} were deleted", error->message, matched)};
    return Json{{"deleted", matched}};
  }
  if (error) return *error;
  Json rows = Json::array();
  for (size_t family = 0; family < registry_.families.size(); ++family) {
    const FamilyRegistry& registry = registry_.families[family];
    for (uint32_t backend = 0; backend < registry.backends.size(); ++backend) {
      for (size_t state = 0; state < conntrack::kConnectionStateCount; ++state) {
        uint64_t count = 0;
        for (const FlowsRequest& request : requests)
          count += request.counts[family][backend][state];
        if (count == 0) continue;
        const RegisteredBackend& registered = registry.backends[backend];
        rows.push_back({{"service", registry.services[registered.service].name},
                        {"backend", registered.name},
                        {"state", kStateNames[state]},
                        {"flows", count}});
      }
    }
  }
  Json classes;
  for (size_t i = 0; i < conntrack::kFlowClassCount; ++i) {
    uint64_t count = 0;
    for (const FlowsRequest& request : requests) count += request.class_counts[i];
    classes[kClassNames[i]] = count;
  }
  return Json{{"flows", matched}, {"classes", std::move(classes)}, {"by", std::move(rows)}};
}

}  // namespace roost::lb
