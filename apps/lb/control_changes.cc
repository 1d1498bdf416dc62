// What the control changes: timeouts and backends.
#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>

#include "apps/lb/control.h"
#include "apps/lb/timeout_names.h"

namespace roost::lb {

Result<Json> Control::timeouts(const Json& parameters) {
  const std::string name = parameters.value("name", "");
  if (parameters.contains("seconds") == name.empty()) {
    return Error{"give a timeout's name and its seconds, or neither"};
  }
  const double tick_seconds = lb_config_.tick_seconds();
  if (!name.empty()) {
    const double seconds = parameters["seconds"].get<double>();
    const std::optional<TickCount> ticks = timeout_ticks(seconds, tick_seconds);
    if (!ticks) {
      return Error{fmt::format("{:g} s is no timeout; give more than 0 and at most {:g}", seconds,
                               tick_seconds * kTimeoutTicksMax)};
    }
    for (const NamedTimeout& named : kNamedTimeouts) {
      if (named.name != name) continue;
      for (const ConnectionState state : named.states) {
        lb_config_.timeouts[static_cast<size_t>(state)] = *ticks;
      }
    }
    std::deque<SetTimeoutsRequest> requests;
    std::vector<node::Request*> posted;
    for (const ControlledWorker& worker : config_.workers) {
      posted.push_back(&requests.emplace_back(*worker.state, lb_config_.timeouts));
    }
    if (auto error = ask_all(posted)) return *error;
  }
  Json all = Json::object();
  for (const NamedTimeout& named : kNamedTimeouts) {
    const TickCount ticks = lb_config_.timeouts[static_cast<size_t>(named.states[0])];
    all[std::string(named.name)] = static_cast<double>(ticks) * tick_seconds;
  }
  return Json{{"timeouts", std::move(all)}};
}

uint32_t Control::weight_of(size_t service, size_t backend) const {
  return backend_states_[service][backend].is_up()
             ? lb_config_.services[service].backends[backend].weight
             : 0;
}

// What makes the workers' weights of a service those that it has now.
Result<SetWeightsRequest::Change> Control::change_of(size_t service) const {
  const ServiceConfig& config = lb_config_.services[service];
  std::vector<uint32_t> weights;
  std::vector<balance::WeightedBackend> weighted;
  for (size_t b = 0; b < config.backends.size(); ++b) {
    weights.push_back(weight_of(service, b));
    weighted.push_back({config.backends[b].name, weights.back()});
  }
  auto maglev = balance::Maglev::create({.backends = weighted, .seed = lb_config_.maglev_seed});
  if (!maglev) return Error{config.name + ": " + maglev.error().message};
  return SetWeightsRequest::Change{places_[service].family == 1, places_[service].service,
                                   std::move(weights), std::move(maglev).value()};
}

Result<Json> Control::backend(const Json& parameters) {
  const std::string action = parameters["action"].get<std::string>();
  const std::string name = parameters["name"].get<std::string>();
  const std::string only = parameters.value("service", "");
  const std::vector<std::vector<BackendState>> states_before = backend_states_;
  std::vector<SetWeightsRequest::Change> changes;
  Json changed = Json::array();
  for (size_t s = 0; s < lb_config_.services.size(); ++s) {
    const ServiceConfig& service = lb_config_.services[s];
    if (!only.empty() && service.name != only) continue;
    for (size_t b = 0; b < service.backends.size(); ++b) {
      if (service.backends[b].name != name) continue;
      BackendState& state = backend_states_[s][b];
      if (action == "up") state.is_down = state.is_drained = false;
      if (action == "down") state.is_down = true;
      if (action == "drain") state.is_drained = true;
      Result<SetWeightsRequest::Change> change = change_of(s);
      if (!change) {
        backend_states_ = states_before;
        return change.error();
      }
      changes.push_back(std::move(change).value());
      changed.push_back({{"service", service.name}, {"name", name}, {"weight", weight_of(s, b)}});
    }
  }
  if (changes.empty()) {
    return Error{fmt::format("there is no backend {}{}{}", name, only.empty() ? "" : " in ", only)};
  }
  if (auto error = apply(changes)) return *error;
  return Json{{"changed", std::move(changed)}};
}

std::optional<Error> Control::set_health(size_t service, size_t backend, bool is_well) {
  const std::scoped_lock lock(mutex_);
  BackendState& state = backend_states_[service][backend];
  const BackendState before = state;
  state.is_failing = !is_well;
  Result<SetWeightsRequest::Change> change = change_of(service);
  if (!change) {
    state = before;
    return change.error();
  }
  return apply({std::move(change).value()});
}

// On every worker.
std::optional<Error> Control::apply(const std::vector<SetWeightsRequest::Change>& changes) {
  std::deque<SetWeightsRequest> requests;
  std::vector<node::Request*> posted;
  for (const ControlledWorker& worker : config_.workers) {
    posted.push_back(&requests.emplace_back(*worker.state, changes));
  }
  return ask_all(posted);
}

}  // namespace roost::lb
