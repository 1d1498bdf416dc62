// What the indices in the connections stand for, as a file says it to who adopts them: services and
// backends by index, what operators, checks and the store say of each, and what an operator says of
// the node.
//
// Written whole and renamed, before any worker may give an index to another backend: so the file
// names whatever a connection can name, at any moment at which the process may be killed.
#pragma once

#include <string_view>

#include "apps/lb/control/backend_state.h"
#include "apps/lb/datapath/backend_registry.h"
#include "roost/base/result.h"
#include "roost/control/json.h"

namespace roost::lb {

struct Roster {
  BackendRegistry registry{};
  BackendStates states{};
  StoreSettings settings{};  // in force
  bool is_node_drained = false;
};

[[nodiscard]] control::Json roster_json(const Roster& roster);

// Refused, with the place: what is no roster, or names an index that there is not. Weights are
// those of next_registry(), which must follow.
[[nodiscard]] Result<Roster> read_roster(std::string_view text);

// The roster of a configuration that follows another one, of whose backends any may have
// connections. Backends that stay keep what is said of them, by the store too until it is heard of.
[[nodiscard]] Result<Roster> next_roster(const Config& config, const Roster& before);

}  // namespace roost::lb
