// What the control changes: timeouts and backends.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/lb/control/control.h"
#include "roost/conntrack/timeouts.h"

namespace roost::lb {

namespace {

// In seconds, those that are given.
Json timeouts_json(const StateTimeouts& timeouts, double tick_seconds) {
  Json json = Json::object();
  for (const conntrack::NamedTimeout& named : conntrack::kTcpUdpTimeouts) {
    const TickCount ticks = timeouts[static_cast<size_t>(named.states[0])];
    if (ticks != 0) json[std::string(named.name)] = static_cast<double>(ticks) * tick_seconds;
  }
  return json;
}

}  // namespace

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
    for (const conntrack::NamedTimeout& named : conntrack::kTcpUdpTimeouts) {
      if (named.name != name) continue;
      for (const ConnectionState state : named.states) {
        lb_config_.timeouts[static_cast<size_t>(state)] = *ticks;
      }
    }
    control::Requests<SetTimeoutsRequest> requests;
    for (State* state : states_) requests.add(*state, lb_config_.timeouts);
    if (auto error = ask(requests.posted())) return *error;
  }
  Json services = Json::array();
  for (const ServiceConfig& service : lb_config_.services) {
    Json own = timeouts_json(service.timeouts, tick_seconds);
    if (own.empty()) continue;
    services.push_back({{"service", service.name}, {"timeouts", std::move(own)}});
  }
  return Json{{"timeouts", timeouts_json(lb_config_.timeouts, tick_seconds)},
              {"services", std::move(services)}};
}

// What makes the workers' weights of a service those that it has now.
Result<SetWeightsRequest::Change> Control::change_of(const BackendRegistry::Place& place) {
  FamilyRegistry& family = registry_.families[place.family];
  const std::vector<BackendState>& states = backend_states_[place.family];
  const auto is_up = [&](uint32_t index) { return states[index].is_up(); };
  auto choice = make_choice(family, place.service, weights_in_force(family, place.service, is_up),
                            lb_config_.maglev_seed);
  if (!choice) return choice.error();
  return SetWeightsRequest::Change{place.family == 1, place.service,
                                   put_in_force(family, place.service, is_up),
                                   std::move(choice).value()};
}

// Of each service whose new connections begin to go to its fallback backends, or cease to.
void Control::tell_fallback(const BackendRegistry& before) {
  for (const BackendRegistry::Place& place : registry_.services) {
    const bool is_used = uses_fallback(registry_.families[place.family], place.service);
    if (is_used == uses_fallback(before.families[place.family], place.service)) continue;
    const std::string& name = registry_.service(place).name;
    if (is_used) {
      config_.tell(
          control::Severity::kWarning,
          fmt::format("new connections of {} go to its fallback: no other backend is up", name));
    } else {
      config_.tell(control::Severity::kNotice,
                   fmt::format("new connections of {} go to its fallback no more", name));
    }
  }
}

std::string Control::words_of(size_t family, uint32_t index) const {
  const FamilyRegistry& registry = registry_.families[family];
  const RegisteredBackend& backend = registry.backends[index];
  const RegisteredService& service = registry.services[backend.service];
  return fmt::format("backend {} of {} ({})", backend.name, service.name,
                     endpoint_text(backend.address, service.ports.moved_to(backend.port)));
}

Result<Json> Control::backend(const Json& parameters) {
  const std::string action = parameters["action"].get<std::string>();
  const std::string name = parameters["name"].get<std::string>();
  const std::string only = parameters.value("service", "");
  const auto states_before = backend_states_;
  const BackendRegistry registry_before = registry_;
  std::vector<SetWeightsRequest::Change> changes;
  std::vector<std::string> told;
  Json changed = Json::array();
  for (const BackendRegistry::Place& place : registry_.services) {
    const RegisteredService& service = registry_.service(place);
    if (!only.empty() && service.name != only) continue;
    for (const uint32_t index : service.backends) {
      if (registry_.families[place.family].backends[index].name != name) continue;
      BackendState& state = backend_states_[place.family][index];
      if (action == "up") state.is_down = state.is_drained = false;
      if (action == "down") state.is_down = true;
      if (action == "drain") state.is_drained = true;
      Result<SetWeightsRequest::Change> change = change_of(place);
      if (!change) {
        backend_states_ = states_before;
        registry_ = registry_before;
        return change.error();
      }
      changes.push_back(std::move(change).value());
      told.push_back(words_of(place.family, index));
      changed.push_back({{"service", service.name},
                         {"name", name},
                         {"weight", registry_.families[place.family].backends[index].weight}});
    }
  }
  if (changes.empty()) {
    return Error{fmt::format("there is no backend {}{}{}", name, only.empty() ? "" : " in ", only)};
  }
  if (auto error = apply(changes)) return *error;
  const char* const what = action == "drain"  ? "drained"
                           : action == "down" ? "marked down"
                                              : "up again";
  for (const std::string& backend : told) {
    config_.tell(control::Severity::kNotice,
                 fmt::format("{} is {}, as an operator said", backend, what));
  }
  tell_fallback(registry_before);
  announce_anew();
  return Json{{"changed", std::move(changed)}};
}

namespace {

// 0: it has none.
uint32_t mark_of(const ServiceConfig& service, const RegisteredBackend& backend) {
  const auto named = std::ranges::find(service.backends, backend.name, &BackendConfig::name);
  return named == service.backends.end() ? 0 : named->check_mark;
}

}  // namespace

std::vector<Control::CheckedBackend> Control::checked_backends() {
  const std::scoped_lock lock(mutex_);
  std::vector<CheckedBackend> checked;
  for (size_t s = 0; s < registry_.services.size(); ++s) {
    const BackendRegistry::Place& place = registry_.services[s];
    const ServiceConfig& service = lb_config_.services[s];
    if (!service.check) continue;
    for (const uint32_t index : registry_.service(place).backends) {
      const RegisteredBackend& backend = registry_.families[place.family].backends[index];
      const BackendState& state = backend_states_[place.family][index];
      const uint32_t mark = mark_of(service, backend);
      checked.push_back({.family = place.family,
                         .index = index,
                         .reloads = reloads(),
                         .address = mark == 0 ? backend.address : service.address,
                         .port = service.check->port.value_or(backend.port),
                         .mark = mark,
                         .check = *service.check,
                         .is_well = !state.is_failing,
                         .failure = state.failure});
    }
  }
  return checked;
}

std::optional<Error> Control::set_health(const CheckedBackend& backend, bool is_well,
                                         const std::string& failure) {
  const std::scoped_lock lock(mutex_);
  if (backend.reloads != reloads()) return {};  // the checks of another configuration
  BackendState& state = backend_states_[backend.family][backend.index];
  const BackendState before = state;
  state.is_failing = !is_well;
  state.failure = failure;
  const uint32_t service = registry_.families[backend.family].backends[backend.index].service;
  const BackendRegistry registry_before = registry_;
  Result<SetWeightsRequest::Change> change = change_of({backend.family, service});
  if (!change) {
    state = before;
    return change.error();
  }
  if (before.is_failing == is_well) {
    config_.tell(
        is_well ? control::Severity::kNotice : control::Severity::kWarning,
        words_of(backend.family, backend.index) +
            (is_well ? " is well again, say its checks" : " fails its checks: " + failure));
  }
  tell_fallback(registry_before);
  auto error = apply({std::move(change).value()});
  announce_anew();
  return error;
}

// On every worker.
std::optional<Error> Control::apply(const std::vector<SetWeightsRequest::Change>& changes) {
  control::Requests<SetWeightsRequest> requests;
  for (State* state : states_) requests.add(*state, changes);
  if (auto error = ask(requests.posted())) return error;
  return note_roster();
}

}  // namespace roost::lb
