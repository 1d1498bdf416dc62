#include "apps/lb/control/backend_state.h"

#include <cstddef>
#include <cstdint>

namespace roost::lb {

BackendStates states_after(const std::vector<ServiceConfig>& services,
                           const BackendRegistry& registry, const BackendStates& before,
                           const StoreSettings& settings) {
  BackendStates states;
  for (size_t family = 0; family < states.size(); ++family) {
    states[family].resize(registry.families[family].backends.size());
  }
  for (size_t s = 0; s < registry.services.size(); ++s) {
    const BackendRegistry::Place& place = registry.services[s];
    for (const uint32_t index : registry.service(place).backends) {
      const RegisteredBackend& backend = registry.families[place.family].backends[index];
      BackendState& state = states[place.family][index];
      if (!backend.is_new) state = before[place.family][index];
      const auto setting = settings.find({services[s].name, backend.name});
      state.is_drained_by_store = setting != settings.end() && setting->second.is_drained;
      if (services[s].check) continue;
      state.is_failing = false;
      state.failure.clear();
    }
  }
  return states;
}

void put_in_force(BackendRegistry& registry, const BackendStates& states) {
  for (const BackendRegistry::Place& place : registry.services) {
    put_in_force(registry.families[place.family], place.service,
                 [&](uint32_t index) { return states[place.family][index].is_up(); });
  }
}

}  // namespace roost::lb
