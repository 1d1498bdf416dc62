// What a balancer is among several nodes: whether it serves, which virtual addresses it has
// announced, and what it knows of the store that all nodes have their settings from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/config/store_settings.h"
#include "roost/control/json.h"
#include "roost/net/address.h"

namespace roost::lb {

using control::Json;

enum class NodeState : uint8_t { kServing, kDrained, kStopping };
[[nodiscard]] std::string_view node_state_name(NodeState state);

struct StoreStatus {
  bool is_configured = false;
  bool is_heard = false;              // of it, good or bad
  std::string away{};                 // why it cannot be read; empty: it can
  std::vector<std::string> faults{};  // of its latest revision, which was refused for them
  std::optional<int64_t> revision{};  // the latest that was taken

  // "none", "awaited", "away", "refused", "current".
  [[nodiscard]] std::string_view state_name() const;
};

struct NodeStatus {
  struct Address {
    net::IpAddress address{};
    bool is_announced = false;
    std::string reason{};  // why it is not
  };

  bool announces = false;  // there is an [announce]
  NodeState state = NodeState::kServing;
  std::vector<Address> addresses{};  // those of the configuration's services
  std::string failure{};             // why routes are not as they should be
  StoreStatus store{};
  StoreSettings settings{};  // of the store, in force
};

// What `roost ctl node` says.
[[nodiscard]] Json node_json(const NodeStatus& status);

}  // namespace roost::lb
