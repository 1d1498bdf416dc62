// What the observer's configuration file says; whole or not at all, as for every function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/assets/observer.h"
#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"
#include "roost/net/address.h"

namespace roost::assets {

struct Config : config::FunctionConfig {
  uint32_t hosts_max = 100'000;                 // of each worker
  uint16_t services_max = 32;                   // of each host
  std::vector<net::IpPrefix> networks{};        // whose addresses are assets; none: all are
  std::string log{};                            // a file; empty: none
  std::vector<std::optional<uint16_t>> mtus{};  // by port; given to the device, else its own
  // Of each worker.
  [[nodiscard]] Observer::Config observer() const;
};

using ConfigOutcome = config::Outcome<Config>;

[[nodiscard]] ConfigOutcome parse_config(std::string_view text);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// Of what `file` says differently, a fault for each thing that cannot change while packets flow:
// all but the networks.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::assets
