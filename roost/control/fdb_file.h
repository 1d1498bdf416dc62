// Entries of the forwarding database as a text, a line each: `10 02:00:00:00:01:10 3 learned`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/bridge/fdb_entry.h"
#include "roost/bridge/vlan_ports.h"

namespace roost::control {

inline constexpr const char* kFdbFileHead = "# vlan mac port kind";

struct FdbLine {
  bridge::FdbKey key{};
  uint16_t port = 0;
  bool is_static = false;
};

[[nodiscard]] std::string format_line(const bridge::FdbKey& key, bridge::FdbValue value);

// A whole file. Errors: it cannot be read, or lines of it are wrong or say what this switch cannot
// have; the first ten are named.
[[nodiscard]] Result<std::vector<FdbLine>> read_fdb_file(const std::string& path, size_t port_count,
                                                         const bridge::VlanPorts& vlans);

}  // namespace roost::control
