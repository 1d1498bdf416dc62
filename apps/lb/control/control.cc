#include "apps/lb/control/control.h"

#include <string>
#include <utility>

#include "apps/lb/takeover/takeover.h"
#include "roost/base/assert.h"

namespace roost::lb {

Control::Control(const lb::Config& lb_config, control::Control::Config config,
                 std::vector<State*> states)
    : control::Control(std::move(config)),
      lb_config_(lb_config),
      file_services_(lb_config.services),
      states_(std::move(states)),
      registry_(states_.front()->registry()) {
  ROOST_ASSERT(states_.size() == config_.workers.size());
  for (size_t family = 0; family < registry_.families.size(); ++family) {
    has_tables_[family] = !registry_.families[family].services.empty();
    backend_states_[family].resize(registry_.families[family].backends.size());
  }
  if (lb_config.takeover && lb_config.takeover->adopted() != nullptr) {
    const Roster& roster = *lb_config.takeover->adopted();
    backend_states_ = roster.states;
    settings_ = roster.settings;
    lb_config_.services = with_settings(file_services_, settings_);
    if (roster.is_node_drained) node_state_ = NodeState::kDrained;
  }
}

std::optional<Error> Control::note_roster() const {
  if (!lb_config_.takeover) return {};
  return lb_config_.takeover->note_roster(
      {registry_, backend_states_, settings_, node_state_ == NodeState::kDrained});
}

Result<Json> Control::run_own(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "stats") return stats();
  if (name == "services") return services();
  if (name == "backends") return backends(request.parameters);
  if (name == "backend") return backend(request.parameters);
  if (name == "flows") return flows(request.parameters);
  if (name == "node") return node(request.parameters);
  if (name == "timeouts") return timeouts(request.parameters);
  ROOST_ASSERT(name == "workers");
  return workers();
}

size_t Control::advertised_count() const {
  return l3::local_addresses(lb_config_.network.ports, balancer_addresses(lb_config_, registry_))
      .advertised.size();
}

Result<Control::Sample> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

}  // namespace roost::lb
