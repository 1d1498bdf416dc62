// What the configuration's [fullnat] says.
#pragma once

#include <cstdint>
#include <vector>

#include "roost/config/toml_table.h"
#include "roost/net/address.h"

namespace roost::lb {

// The local ports of services whose mode is `fullnat`.
struct FullnatConfig {
  std::vector<net::IpAddress> addresses{};
  // Those from which IPv4 backends of IPv6 services are addressed, all IPv4.
  std::vector<net::IpAddress> nat64_addresses{};
  uint16_t first_port = 1'024;
  uint16_t last_port = 65'535;
  uint32_t line = 0;
};

// Reads [fullnat] of a file's top table.
[[nodiscard]] FullnatConfig read_fullnat(config::TomlTable& top,
                                         std::vector<config::Fault>& faults);

}  // namespace roost::lb
