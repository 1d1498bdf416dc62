// Flows, listed and changed while packets flow (docs/decisions/0042-flow-tables.md).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/classify/control/control.h"
#include "apps/classify/control/flow_requests.h"
#include "roost/openflow/flow_text.h"

namespace roost::classifying {

namespace {

using classify::RuleTable;
using control::Json;
using openflow::Flow;

constexpr uint64_t kRowsDefault = 100;
constexpr uint64_t kRowsMax = 10'000;

// The text of a command, read as flows: every fault is a line of the error.
Result<std::vector<Flow>> flows_of(const std::string& text, const Config& config) {
  std::vector<config::Fault> faults;
  std::vector<Flow> flows = read_flows(text, config, faults);
  if (faults.empty()) return flows;
  std::string lines;
  for (const config::Fault& fault : faults) lines += (lines.empty() ? "" : "\n") + fault.text;
  return Error{lines};
}

std::vector<std::vector<openflow::FlowId>> ids_by_worker(
    std::span<const openflow::FlowList::iterator> places, size_t worker_count) {
  std::vector<std::vector<openflow::FlowId>> ids(worker_count);
  for (const openflow::FlowList::iterator& place : places) {
    for (size_t i = 0; i < worker_count; ++i) ids[i].push_back(place->second.ids[i]);
  }
  return ids;
}

}  // namespace

Result<Json> Control::rules(const Json& parameters) {
  const std::string action = parameters.value("action", "list");
  if (action == "add") return add_rule(parameters);
  if (action == "delete") return delete_rules(parameters);
  if (action == "replace") return replace_rules(parameters);
  if (action == "count") return count_rules(parameters);
  return list_rules(parameters);
}

Result<std::function<bool(const Flow&)>> Control::filter(const Json& parameters) {
  const auto table = control::parse_number(parameters, "table", 0, openflow::kTablesMax - 1);
  if (!table) return table.error();
  Flow wanted;
  const std::string text = parameters.value("text", "");
  if (!text.empty()) {
    const Result<std::vector<Flow>> flows = flows_of(text + ",actions=drop", own_config_);
    if (!flows) return flows.error();
    if (flows.value().size() != 1) return Error{"give one match, 'tcp,tp_dst=80'"};
    wanted = flows.value().front();
  }
  if (table.value()) wanted.table = static_cast<uint8_t>(*table.value());
  const bool is_of_table = table.value().has_value() || wanted.table != 0;
  const bool is_strict = parameters.value("strict", false);
  return std::function([=](const Flow& flow) {
    if (is_strict) return key_of(flow) == key_of(wanted);
    return (!is_of_table || flow.table == wanted.table) && is_within(flow, wanted);
  });
}

Result<std::vector<RuleTable::Counts>> Control::counts_of(std::span<const Place> places) {
  std::vector<std::vector<openflow::FlowId>> ids = ids_by_worker(places, states_.size());
  control::Requests<CountsRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) requests.add(*states_[i], std::move(ids[i]));
  if (auto error = ask(requests.posted())) return *error;
  std::vector<RuleTable::Counts> sums;
  for (const Place& place : places) sums.push_back(place->second.counted_before);
  for (const CountsRequest& request : requests) {
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].packets += request.counts()[i].packets;
      sums[i].bytes += request.counts()[i].bytes;
    }
  }
  return sums;
}

// A cursor says after how many flows the page begins: changes in between may move it.
Result<Json> Control::list_rules(const Json& parameters) {
  const auto is_wanted = filter(parameters);
  if (!is_wanted) return is_wanted.error();
  const auto limit = control::parse_number(parameters, "limit", 1, kRowsMax);
  if (!limit) return limit.error();
  const auto cursor = control::parse_cursor<1>(parameters, UINT64_MAX);
  if (!cursor) return cursor.error();
  size_t number = cursor.value()[0];
  std::vector<Place> places;
  Place place = flows().begin();
  std::advance(place, std::min(number, flows().size()));
  for (; place != flows().end() && places.size() < limit.value().value_or(kRowsDefault); ++place) {
    ++number;
    if (is_wanted.value()(place->second.flow)) places.push_back(place);
  }
  const auto counts = counts_of(places);
  if (!counts) return counts.error();
  Json rows = Json::array();
  for (size_t i = 0; i < places.size(); ++i)
    rows.push_back(flow_json(places[i]->second.flow, counts.value()[i]));
  Json json = {{"rows", std::move(rows)}};
  if (place != flows().end()) json["cursor"] = std::to_string(number);
  return json;
}

Result<Json> Control::count_rules(const Json& parameters) {
  const auto is_wanted = filter(parameters);
  if (!is_wanted) return is_wanted.error();
  std::vector<Place> places;
  for (Place place = flows().begin(); place != flows().end(); ++place)
    if (is_wanted.value()(place->second.flow)) places.push_back(place);
  const auto counts = counts_of(places);
  if (!counts) return counts.error();
  RuleTable::Counts sum;
  for (const RuleTable::Counts& one : counts.value()) {
    sum.packets += one.packets;
    sum.bytes += one.bytes;
  }
  return Json{{"flows", places.size()}, {"packets", sum.packets}, {"bytes", sum.bytes}};
}

// While the old flow is there, the new one answers nothing; so each packet meets one of the two.
Result<Json> Control::add_rule(const Json& parameters) {
  Result<std::vector<Flow>> given = flows_of(parameters.value("text", ""), own_config_);
  if (!given) return given.error();
  if (given.value().size() != 1)
    return Error{"add: give one flow, 'priority=100,tcp,tp_dst=80,actions=output:2'"};
  const Flow& flow = given.value().front();
  control::Requests<AddRequest> requests;
  for (State* state : states_) requests.add(*state, flow);
  const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
  if (auto error = asked.error(config_.function)) return *error;
  openflow::ListedFlow listed{.flow = flow};
  std::optional<Error> refused;
  std::vector<std::vector<openflow::FlowId>> made(states_.size());
  for (size_t i = 0; const AddRequest& request : requests) {
    if (request.added().ok()) {
      listed.ids.push_back(request.added().value());
      made[i].push_back(request.added().value());
    } else {
      refused = request.added().error();
    }
    ++i;
  }
  if (refused) {  // by one of them: by all
    control::Requests<EraseRequest> undo;
    for (size_t i = 0; i < states_.size(); ++i) undo.add(*states_[i], std::move(made[i]));
    if (auto error =
            control::ask_until_done(*config_.mailboxes, undo.posted()).error(config_.function))
      return *error;
    return *refused;
  }
  const Place before = flows().find(key_of(flow));
  const bool replaces = before != flows().end();
  if (replaces) {
    if (auto error = erase(std::span(&before, 1))) return *error;
  }
  flows().emplace(key_of(flow), std::move(listed));
  return Json{{"added", 1}, {"replaced", replaces ? 1 : 0}};
}

std::optional<Error> Control::erase(std::span<const Place> places) {
  std::vector<std::vector<openflow::FlowId>> ids = ids_by_worker(places, states_.size());
  control::Requests<EraseRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) requests.add(*states_[i], std::move(ids[i]));
  const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
  if (auto error = asked.error(config_.function)) return error;
  for (const Place& place : places) flows().erase(place);
  return {};
}

Result<Json> Control::delete_rules(const Json& parameters) {
  const bool says_which = parameters.contains("text") || parameters.contains("table") ||
                          parameters.value("strict", false);
  if (!says_which) return Error{"delete: say which, by a match or --table"};
  const auto is_wanted = filter(parameters);
  if (!is_wanted) return is_wanted.error();
  std::vector<Place> places;
  for (Place place = flows().begin(); place != flows().end(); ++place)
    if (is_wanted.value()(place->second.flow)) places.push_back(place);
  if (auto error = erase(places)) return *error;
  return Json{{"deleted", places.size()}};
}

Result<Json> Control::replace_rules(const Json& parameters) {
  const std::string path = parameters.value("text", "");
  if (path.empty()) return Error{"replace: give the file with the flows"};
  const config::Outcome<std::string> text = config::read_text(path);
  if (!text.config) return config::error_of(text.faults, path);
  std::vector<config::Fault> faults;
  const std::vector<Flow> flows = read_flows(*text.config, own_config_, faults);
  if (!faults.empty()) return config::error_of(faults, path);
  return replace_all(flows);
}

Result<Json> Control::replace_all(const std::vector<Flow>& flows) {
  classifying::Config config = own_config_;
  config.flows = flows;
  const std::shared_ptr<Shared> listed = list_flows(config, states_.size());
  control::Requests<ExchangeRequest> requests;
  for (size_t i = 0; i < states_.size(); ++i) {
    std::vector<openflow::FlowId> ids;
    auto tables = make_tables(config.classifier(), listed->flows, ids);
    if (!tables) return tables.error();
    for (size_t next = 0; auto& [key, flow] : listed->flows) flow.ids[i] = ids[next++];
    requests.add(*states_[i], std::move(tables).value());
  }
  const control::Asked asked = control::ask_until_done(*config_.mailboxes, requests.posted());
  if (auto error = asked.error(config_.function)) return *error;
  size_t kept = 0;
  for (auto& [key, flow] : listed->flows) {
    const Place before = this->flows().find(key);
    if (before == this->flows().end() || before->second.flow.actions != flow.flow.actions) continue;
    ++kept;
    flow.counted_before = before->second.counted_before;
    for (size_t i = 0; const ExchangeRequest& request : requests) {
      const auto counts = request.before().counts(before->second.ids[i++]);
      if (!counts) continue;
      flow.counted_before.packets += counts->packets;
      flow.counted_before.bytes += counts->bytes;
    }
  }
  const size_t before = this->flows().size();
  this->flows().swap(listed->flows);
  return Json{{"flows", this->flows().size()}, {"flows_before", before}, {"kept", kept}};
}

}  // namespace roost::classifying
