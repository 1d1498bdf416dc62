// What the control changes: timeouts and backends.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "apps/lb/control/control.h"
#include "roost/conntrack/timeouts.h"

namespace roost::lb {

Result<Json> Control::timeouts(const Json& parameters) {
  const std::string name = parameters.value("name", "");
  if (parameters.contains("seconds") == name.empty()) {
    return Error{"give a timeout's name and its seconds, or neither"};
  }
  const double tick_seconds = lb_config_.tick_seconds();
  if (!name.empty()) {
    const double seconds = parameters["seconds"].get<double>();
    const std::optional<TickCount> ticks = conntrack::timeout_ticks(seconds, tick_seconds);
    if (!ticks) {
      return Error{fmt::format("{:g} s is no timeout; give more than 0 and at most {:g}", seconds,
                               tick_seconds * kTimeoutTicksMax)};
    }
    for (const conntrack::NamedTimeout& named : conntrack::kNamedTimeouts) {
      if (named.name != name) continue;
      for (const ConnectionState state : named.states) {
        lb_config_.timeouts[static_cast<size_t>(state)] = *ticks;
      }
    }
    control::Requests<SetTimeoutsRequest> requests;
    for (State* state : states_) requests.add(*state, lb_config_.timeouts);
    if (auto error = ask(requests.posted())) return *error;
  }
  Json all = Json::object();
  for (const conntrack::NamedTimeout& named : conntrack::kNamedTimeouts) {
    const TickCount ticks = lb_config_.timeouts[static_cast<size_t>(named.states[0])];
    all[std::string(named.name)] = static_cast<double>(ticks) * tick_seconds;
  }
  return Json{{"timeouts", std::move(all)}};
}

uint32_t Control::weight_of(size_t family, uint32_t slot) const {
  return backend_states_[family][slot].is_up()
             ? layout_.families[family].backends[slot].configured_weight
             : 0;
}

// What makes the workers' weights of a service those that it has now.
Result<SetWeightsRequest::Change> Control::change_of(const Layout::Place& place) {
  FamilyLayout& family = layout_.families[place.family];
  const std::vector<uint32_t>& slots = family.services[place.service].backends;
  std::vector<uint32_t> weights;
  for (const uint32_t slot : slots) weights.push_back(weight_of(place.family, slot));
  auto maglev = make_maglev(family, place.service, weights, lb_config_.maglev_seed);
  if (!maglev) return maglev.error();
  for (size_t i = 0; i < slots.size(); ++i) family.backends[slots[i]].weight = weights[i];
  return SetWeightsRequest::Change{place.family == 1, place.service, std::move(weights),
                                   std::move(maglev).value()};
}

std::string Control::words_of(size_t family, uint32_t slot) const {
  const FamilyLayout& layout = layout_.families[family];
  const BackendSlot& backend = layout.backends[slot];
  return fmt::format("backend {} of {} ({})", backend.name, layout.services[backend.service].name,
                     endpoint_text(backend.address, backend.port));
}

Result<Json> Control::backend(const Json& parameters) {
  const std::string action = parameters["action"].get<std::string>();
  const std::string name = parameters["name"].get<std::string>();
  const std::string only = parameters.value("service", "");
  const auto states_before = backend_states_;
  const Layout layout_before = layout_;
  std::vector<SetWeightsRequest::Change> changes;
  std::vector<std::string> told;
  Json changed = Json::array();
  for (const Layout::Place& place : layout_.services) {
    const ServiceSlot& service = layout_.service(place);
    if (!only.empty() && service.name != only) continue;
    for (const uint32_t slot : service.backends) {
      if (layout_.families[place.family].backends[slot].name != name) continue;
      BackendState& state = backend_states_[place.family][slot];
      if (action == "up") state.is_down = state.is_drained = false;
      if (action == "down") state.is_down = true;
      if (action == "drain") state.is_drained = true;
      Result<SetWeightsRequest::Change> change = change_of(place);
      if (!change) {
        backend_states_ = states_before;
        layout_ = layout_before;
        return change.error();
      }
      changes.push_back(std::move(change).value());
      told.push_back(words_of(place.family, slot));
      changed.push_back(
          {{"service", service.name}, {"name", name}, {"weight", weight_of(place.family, slot)}});
    }
  }
  if (changes.empty()) {
    return Error{fmt::format("there is no backend {}{}{}", name, only.empty() ? "" : " in ", only)};
  }
  if (auto error = apply(changes)) return *error;
  const char* const what = action == "drain"  ? "drained"
                           : action == "down" ? "marked down"
                                              : "up again";
  for (const std::string& who : told) {
    config_.tell(control::Severity::kNotice,
                 fmt::format("{} is {}, as an operator said", who, what));
  }
  return Json{{"changed", std::move(changed)}};
}

std::vector<Control::CheckedBackend> Control::checked_backends() {
  const std::scoped_lock lock(mutex_);
  std::vector<CheckedBackend> checked;
  for (size_t s = 0; s < layout_.services.size(); ++s) {
    const Layout::Place& place = layout_.services[s];
    const std::optional<CheckConfig>& check = lb_config_.services[s].check;
    if (!check) continue;
    for (const uint32_t slot : layout_.service(place).backends) {
      const BackendSlot& backend = layout_.families[place.family].backends[slot];
      checked.push_back({place.family, slot, reloads(), backend.address,
                         check->port.value_or(backend.port), *check,
                         !backend_states_[place.family][slot].is_failing});
    }
  }
  return checked;
}

std::optional<Error> Control::set_health(const CheckedBackend& backend, bool is_well) {
  const std::scoped_lock lock(mutex_);
  if (backend.reloads != reloads()) return {};  // the checks of another configuration
  BackendState& state = backend_states_[backend.family][backend.slot];
  const BackendState before = state;
  state.is_failing = !is_well;
  const uint32_t service = layout_.families[backend.family].backends[backend.slot].service;
  Result<SetWeightsRequest::Change> change = change_of({backend.family, service});
  if (!change) {
    state = before;
    return change.error();
  }
  if (before.is_failing == is_well) {
    config_.tell(is_well ? control::Severity::kNotice : control::Severity::kWarning,
                 words_of(backend.family, backend.slot) +
                     (is_well ? " is well again, say its checks" : " fails its checks"));
  }
  return apply({std::move(change).value()});
}

// On every worker.
std::optional<Error> Control::apply(const std::vector<SetWeightsRequest::Change>& changes) {
  control::Requests<SetWeightsRequest> requests;
  for (State* state : states_) requests.add(*state, changes);
  return ask(requests.posted());
}

}  // namespace roost::lb
