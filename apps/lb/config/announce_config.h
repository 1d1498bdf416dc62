// What the configuration's [announce] says: how a routing daemon on this host learns which virtual
// addresses are served here (docs/decisions/0036-two-nodes.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "roost/config/toml_table.h"

namespace roost::lb {

struct AnnounceConfig {
  std::string device = "roost";  // of the kernel's, made for this
  uint32_t table = 0;            // the kernel's routing table that has the addresses
  double stop_seconds = 2;       // between the last withdrawal and the end
  uint32_t line = 0;

  // Wherever it stands in the file.
  bool operator==(const AnnounceConfig& other) const {
    return std::tie(device, table, stop_seconds) ==
           std::tie(other.device, other.table, other.stop_seconds);
  }
};

// Reads [announce] of a file's top table; nothing where it is absent.
[[nodiscard]] std::optional<AnnounceConfig> read_announce(config::TomlTable& top,
                                                          std::vector<config::Fault>& faults);

}  // namespace roost::lb
