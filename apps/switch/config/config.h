// What the switch's configuration file says, and reading it; whole or not at all, as for every
// function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/switch/config/station_config.h"
#include "roost/bridge/frame_path.h"
#include "roost/bridge/move_limit.h"
#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"

namespace roost::switching {

struct Shared;

struct PortConfig {
  bridge::SwitchPort rules{};
  std::optional<uint64_t> learn_max{};
  std::optional<uint16_t> mtu{};  // given to the device, else its own
  uint32_t line = 0;
};

struct Config : config::FunctionConfig {
  uint64_t entries_max = 1'000'000;  // of learned stations
  uint64_t static_max = 4'096;       // of static ones
  uint64_t ageing_seconds = 300;
  bool drops_bpdus = false;
  bridge::MoveLimit::Config moves{};
  std::vector<PortConfig> ports{};
  std::vector<StationConfig> stations{};
  std::optional<bridge::Mirror> mirror{};
  std::shared_ptr<Shared> shared{};  // made when EAL runs
  // What workers do by it.
  [[nodiscard]] std::shared_ptr<const bridge::SwitchRules> rules() const;
  [[nodiscard]] std::vector<std::optional<uint64_t>> learn_max() const;
};

using ConfigOutcome = config::Outcome<Config>;

[[nodiscard]] ConfigOutcome parse_config(std::string_view text);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// A fault for each thing that `file` says differently and that cannot change while frames flow.
// VLANs, limits, stations and the mirror can.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::switching
