// Taking a new configuration while packets flow: docs/decisions/0011-reload.md.
#include <fmt/format.h>

#include <deque>
#include <sstream>
#include <string>
#include <utility>

#include "apps/lb/config/config_change.h"
#include "apps/lb/control/control.h"

namespace roost::lb {

namespace {

// By family and backend slot.
using LiveFlows = std::array<std::vector<uint64_t>, 2>;

LiveFlows live_flows(const Report& report, const Layout& layout) {
  LiveFlows live;
  for (size_t family = 0; family < live.size(); ++family) {
    live[family].resize(layout.families[family].backends.size());
  }
  for (const ServiceReport& service : report.services) {
    for (const BackendReport& backend : service.backends) {
      live[service.family][backend.slot] = backend.counters.flows - backend.counters.flows_over;
    }
  }
  return live;
}

BackendUse use_of(const LiveFlows& live) {
  BackendUse use;
  for (size_t family = 0; family < live.size(); ++family) {
    for (const uint64_t flows : live[family]) use[family].push_back(flows != 0);
  }
  return use;
}

uint64_t flows_on_removed(const LiveFlows& live, const Layout& layout) {
  uint64_t flows = 0;
  for (size_t family = 0; family < live.size(); ++family) {
    for (size_t slot = 0; slot < live[family].size(); ++slot) {
      const bool is_removed = layout.families[family].backends[slot].use == SlotUse::kRemoved;
      if (is_removed) flows += live[family][slot];
    }
  }
  return flows;
}

struct BackendChanges {
  uint64_t configured = 0;
  uint64_t added = 0;
  uint64_t removed = 0;
};

BackendChanges changes_between(const Layout& before, const Layout& after) {
  BackendChanges changes;
  for (size_t family = 0; family < after.families.size(); ++family) {
    const std::vector<BackendSlot>& old = before.families[family].backends;
    const std::vector<BackendSlot>& all = after.families[family].backends;
    for (size_t slot = 0; slot < all.size(); ++slot) {
      const bool was = slot < old.size() && old[slot].use == SlotUse::kConfigured;
      const bool is = all[slot].use == SlotUse::kConfigured;
      changes.configured += is ? 1 : 0;
      changes.added += is && !was ? 1 : 0;
      changes.removed += was && !is ? 1 : 0;
    }
  }
  return changes;
}

}  // namespace

Result<Json> Control::reload() {
  Result<Json> outcome = take_file();
  tell_reload(outcome);
  if (outcome && config_.on_reload) config_.on_reload();
  return outcome;
}

// A line for each fault, as at the start.
void Control::tell_reload(const Result<Json>& outcome) const {
  if (outcome) {
    const Json& json = outcome.value();
    config_.tell(control::Severity::kNotice,
                 fmt::format("the configuration was taken: {} backends, {} added, {} removed; {} "
                             "connections are on removed ones",
                             json["backends"].get<uint64_t>(), json["added"].get<uint64_t>(),
                             json["removed"].get<uint64_t>(),
                             json["connections_on_removed"].get<uint64_t>()));
    return;
  }
  std::istringstream faults(outcome.error().message);
  for (std::string fault; std::getline(faults, fault);)
    config_.tell(control::Severity::kError, fault);
  config_.tell(control::Severity::kError, "the configuration was not taken; nothing has changed");
}

Result<Json> Control::take_file() {
  const std::scoped_lock lock(mutex_);
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) {
    outcome.faults = refused_changes(lb_config_, *outcome.config, has_tables_);
  }
  Result<Json> taken = outcome.faults.empty()
                           ? take(*outcome.config)
                           : config::error_of(outcome.faults, config_.config_path);
  ++(taken ? reloads_ : reloads_refused_);
  return taken;
}

// What operators and checks have said of a backend stays with it while it is configured.
Control::BackendStates Control::states_after(const lb::Config& file, const Layout& layout) const {
  BackendStates states;
  for (size_t family = 0; family < states.size(); ++family) {
    states[family].resize(layout.families[family].backends.size());
  }
  for (size_t s = 0; s < layout.services.size(); ++s) {
    const Layout::Place& place = layout.services[s];
    for (const uint32_t slot : layout.service(place).backends) {
      if (layout.families[place.family].backends[slot].is_new) continue;
      BackendState& state = states[place.family][slot];
      state = backend_states_[place.family][slot];
      if (!file.services[s].check) state.is_failing = false;
    }
  }
  return states;
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take(const lb::Config& file) {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  const LiveFlows live = live_flows(sample.value().report, layout_);
  Result<Layout> laid_out = next_layout(file, layout_, use_of(live));
  if (!laid_out) return laid_out.error();
  Layout layout = std::move(laid_out).value();

  auto states = states_after(file, layout);
  for (size_t family = 0; family < states.size(); ++family) {
    std::vector<BackendSlot>& backends = layout.families[family].backends;
    for (size_t slot = 0; slot < backends.size(); ++slot) {
      if (!states[family][slot].is_up()) backends[slot].weight = 0;
    }
  }

  lb::Config config = lb_config_;
  config.services = file.services;
  config.timeouts = file.timeouts;
  config.maglev_seed = file.maglev_seed;
  Result<std::deque<UpdateRequest>> updates = make_updates(config, layout);
  if (!updates) return updates.error();
  std::vector<node::Request*> posted;
  for (UpdateRequest& update : updates.value()) posted.push_back(&update);
  if (auto error = ask_until_all_have(std::move(posted))) return *error;

  const BackendChanges changes = changes_between(layout_, layout);
  const uint64_t on_removed = flows_on_removed(live, layout);
  layout_ = std::move(layout);
  lb_config_ = std::move(config);
  backend_states_ = std::move(states);
  return Json{{"services", layout_.services.size()},
              {"backends", changes.configured},
              {"added", changes.added},
              {"removed", changes.removed},
              {"connections_on_removed", on_removed}};
}

Result<std::deque<UpdateRequest>> Control::make_updates(const lb::Config& config,
                                                        const Layout& layout) {
  std::array<std::vector<ServiceMaglevs>, 2> maglevs;
  for (size_t family = 0; family < maglevs.size(); ++family) {
    auto made = make_maglevs(layout.families[family], config.maglev_seed);
    if (!made) return made.error();
    maglevs[family] = std::move(made).value();
  }
  std::deque<UpdateRequest> updates;
  for (const ControlledWorker& worker : config_.workers) {
    Result<StateUpdate> update = StateUpdate::create(config, layout, maglevs);
    if (!update) return update.error();
    const bool announces = updates.empty();
    updates.emplace_back(*worker.state, std::move(update).value(), announces);
  }
  return updates;
}

// They answered a moment ago and will again, so this waits for all of them: one that had another
// layout than the others could not be asked for anything any more.
std::optional<Error> Control::ask_until_all_have(std::vector<node::Request*> requests) {
  bool is_over = false;
  while (!is_over) {
    const std::vector<node::Answer> answers = config_.room->ask(requests, kAnswerWaitMax);
    is_over = true;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == node::Answer::kClosed) return Error{"the balancer is ending"};
      if (answers[i] == node::Answer::kDone) requests[i] = nullptr;
      if (answers[i] == node::Answer::kTimedOut) is_over = false;
    }
  }
  return {};
}

}  // namespace roost::lb
