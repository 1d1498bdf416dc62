// Which entries of the forwarding database a command means.
#pragma once

#include <cstdint>
#include <optional>

#include "roost/base/result.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/control/json.h"

namespace roost::control {

struct FdbFilter {
  std::optional<uint16_t> vlan{};
  std::optional<uint64_t> mac_word{};
  std::optional<uint16_t> port{};
  std::optional<bool> is_static{};

  [[nodiscard]] bool admits(const bridge::FdbKey& key, bridge::FdbValue value) const {
    return (!vlan || *vlan == key.vlan()) && (!mac_word || *mac_word == key.mac_word()) &&
           (!port || *port == value.port()) && (!is_static || *is_static == value.is_static());
  }
};

// Of `vlan`, `mac`, `port` (of so many) and `kind`, those that are given.
[[nodiscard]] Result<FdbFilter> parse_filter(const Json& parameters, size_t port_count);

}  // namespace roost::control
