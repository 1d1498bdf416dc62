// Taking a new configuration while packets flow: docs/decisions/0011-reload.md.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "apps/lb/config/config_change.h"
#include "apps/lb/control/control.h"
#include "apps/lb/takeover/takeover.h"

namespace roost::lb {

namespace {

// By family and backend index.
using LiveFlows = std::array<std::vector<uint64_t>, 2>;

LiveFlows live_flows(const Report& report, const BackendRegistry& registry) {
  LiveFlows live;
  for (size_t family = 0; family < live.size(); ++family) {
    live[family].resize(registry.families[family].backends.size());
  }
  for (const ServiceReport& service : report.services) {
    for (const BackendReport& backend : service.backends) {
      live[service.family][backend.index] = backend.counters.flows - backend.counters.flows_over;
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

uint64_t flows_on_removed(const LiveFlows& live, const BackendRegistry& registry) {
  uint64_t flows = 0;
  for (size_t family = 0; family < live.size(); ++family) {
    for (size_t index = 0; index < live[family].size(); ++index) {
      const bool is_removed =
          registry.families[family].backends[index].use == Registration::kRemoved;
      if (is_removed) flows += live[family][index];
    }
  }
  return flows;
}

struct BackendChanges {
  uint64_t configured = 0;
  uint64_t added = 0;
  uint64_t removed = 0;
};

BackendChanges changes_between(const BackendRegistry& before, const BackendRegistry& after) {
  BackendChanges changes;
  for (size_t family = 0; family < after.families.size(); ++family) {
    const std::vector<RegisteredBackend>& old = before.families[family].backends;
    const std::vector<RegisteredBackend>& all = after.families[family].backends;
    for (size_t index = 0; index < all.size(); ++index) {
      const bool was = index < old.size() && old[index].use == Registration::kConfigured;
      const bool is = all[index].use == Registration::kConfigured;
      changes.configured += is ? 1 : 0;
      changes.added += is && !was ? 1 : 0;
      changes.removed += was && !is ? 1 : 0;
    }
  }
  return changes;
}

}  // namespace

std::string Control::taken_text(const Json& taken) const {
  return fmt::format("{} backends, {} added, {} removed; {} connections are on removed ones",
                     taken["backends"].get<uint64_t>(), taken["added"].get<uint64_t>(),
                     taken["removed"].get<uint64_t>(),
                     taken["connections_on_removed"].get<uint64_t>());
}

Result<Json> Control::take_file() {
  ConfigOutcome outcome = read_config(config_.config_path);
  if (outcome.config) {
    outcome.faults = refused_changes(lb_config_, *outcome.config, has_tables_);
  }
  if (!outcome.faults.empty()) return config::error_of(outcome.faults, config_.config_path);
  // What the store says of the backends of before may fit those of now no more, and the reverse.
  StoreOutcome store =
      read_store(store_keys_, lb_config_.control.etcd_prefix, outcome.config->services);
  const bool is_good = store.faults.empty();
  Result<Json> taken =
      take(*outcome.config, {is_good ? std::move(store.settings) : settings_, true});
  if (taken) {
    const bool was_refused = !store_.faults.empty();
    note_store_faults(std::move(store.faults));
    if (was_refused && is_good && store_.revision) tell_store_taken(*store_.revision);
    announce_anew();
  }
  return taken;
}

// Until the workers are asked to change, whatever fails changes nothing.
Result<Json> Control::take(const lb::Config& file, Beside beside) {
  const Result<Sample> sample = take_sample();
  if (!sample) return sample.error();
  const LiveFlows live = live_flows(sample.value().report, registry_);
  lb::Config config = lb_config_;
  config.services = with_settings(file.services, beside.settings);
  config.timeouts = file.timeouts;
  config.refuses = file.refuses;
  config.maglev_seed = file.maglev_seed;
  Result<BackendRegistry> next = next_registry(config, registry_, use_of(live));
  if (!next) return next.error();
  BackendRegistry registry = std::move(next).value();

  auto states = states_after(file.services, registry, backend_states_, beside.settings);
  put_in_force(registry, states);

  const Result<control::Requests<UpdateRequest>> updates =
      make_updates(config, registry, beside.is_reload);
  if (!updates) return updates.error();
  // Whoever adopts the connections must know of an index before any of them names it.
  if (lb_config_.takeover) {
    auto error = lb_config_.takeover->change_roster(
        {registry, states, beside.settings, node_state_ == NodeState::kDrained});
    if (error) return *error;
  }
  // They answered a moment ago and will again, so this waits for all of them: one that had another
  // registry than the others could not be asked for anything any more.
  const control::Asked asked =
      control::ask_until_done(*config_.mailboxes, updates.value().posted());
  if (auto error = asked.error(config_.function)) return *error;

  const BackendChanges changes = changes_between(registry_, registry);
  const uint64_t on_removed = flows_on_removed(live, registry);
  registry_ = std::move(registry);
  lb_config_ = std::move(config);
  file_services_ = file.services;
  settings_ = std::move(beside.settings);
  backend_states_ = std::move(states);
  return Json{{"services", registry_.services.size()},
              {"backends", changes.configured},
              {"added", changes.added},
              {"removed", changes.removed},
              {"connections_on_removed", on_removed}};
}

Result<control::Requests<UpdateRequest>> Control::make_updates(const lb::Config& config,
                                                               const BackendRegistry& registry,
                                                               bool is_reload) {
  std::array<std::vector<ServiceChoices>, 2> choices;
  for (size_t family = 0; family < choices.size(); ++family) {
    auto made = make_choices(registry.families[family], config.maglev_seed);
    if (!made) return made.error();
    choices[family] = std::move(made).value();
  }
  control::Requests<UpdateRequest> updates;
  for (State* state : states_) {
    Result<StateUpdate> update = StateUpdate::create(config, registry, choices);
    if (!update) return update.error();
    const bool announces = is_reload && updates.size() == 0;
    updates.add(*state, std::move(update).value(), announces);
  }
  return updates;
}

}  // namespace roost::lb
