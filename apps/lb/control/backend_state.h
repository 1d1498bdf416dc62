// Whether a backend gets new connections, and why not: what operators, checks and the store say of
// it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/lb/config/config.h"
#include "apps/lb/config/store_settings.h"
#include "apps/lb/datapath/backend_registry.h"

namespace roost::lb {

struct BackendState {
  bool is_drained = false;           // by an operator, here
  bool is_drained_by_store = false;  // on all nodes
  bool is_down = false;
  bool is_failing = false;  // by its health checks
  std::string failure{};    // why, in their words

  [[nodiscard]] bool is_up() const {
    return !is_drained && !is_drained_by_store && !is_down && !is_failing;
  }
};

using BackendStates = std::array<std::vector<BackendState>, 2>;  // by family and index

// What operators and checks say of a backend stays with it while it is configured: the states of a
// registry of these services, which follows the one that `before` is of. The store says what it
// says of these.
[[nodiscard]] BackendStates states_after(const std::vector<ServiceConfig>& services,
                                         const BackendRegistry& registry,
                                         const BackendStates& before,
                                         const StoreSettings& settings);

// The registry has the weights that are in force with these states.
void put_in_force(BackendRegistry& registry, const BackendStates& states);

}  // namespace roost::lb
