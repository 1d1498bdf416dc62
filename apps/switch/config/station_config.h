// A static entry of the configuration.
#pragma once

#include <cstdint>
#include <vector>

#include "roost/bridge/fdb_entry.h"
#include "roost/bridge/vlan_ports.h"
#include "roost/config/fault.h"

namespace roost::config {
class TomlTable;
}

namespace roost::switching {

struct StationConfig {
  bridge::FdbKey key{};
  uint16_t port = bridge::FdbValue::kNoPort;  // or none: its frames are dropped
  uint32_t line = 0;
};

// Reads all [[station]]s of a file's top table.
[[nodiscard]] std::vector<StationConfig> read_stations(config::TomlTable& top, size_t port_count,
                                                       const bridge::VlanPorts& vlans,
                                                       std::vector<config::Fault>& faults);

}  // namespace roost::switching
