// What etcd says of backends: settings that all nodes of a service share
// (docs/decisions/0036-two-nodes.md).
//
//   PREFIX SERVICE/BACKEND/weight   "0" to "65535", in the place of the file's
//   PREFIX SERVICE/BACKEND/drain    "true" or "false"
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/lb/config/config.h"

namespace roost::lb {

struct StoreSetting {
  std::optional<uint32_t> weight{};  // else the file's
  bool is_drained = false;

  bool operator==(const StoreSetting&) const = default;
};

// By the names of service and backend; who is not named is as the file says.
using StoreSettings = std::map<std::pair<std::string, std::string>, StoreSetting>;

struct StoreOutcome {
  StoreSettings settings{};           // only if there is no fault
  std::vector<std::string> faults{};  // each names its key, and says what to do
};

// Of all keys below the prefix, by key, and the services of the file. Every fault is found; a key
// of a backend that the file does not have is one.
[[nodiscard]] StoreOutcome read_store(const std::map<std::string, std::string>& keys,
                                      const std::string& prefix,
                                      const std::vector<ServiceConfig>& services);

// The services with the weights of the settings, where these have some.
[[nodiscard]] std::vector<ServiceConfig> with_settings(std::vector<ServiceConfig> services,
                                                       const StoreSettings& settings);

}  // namespace roost::lb
