// What the classifier's configuration file says, and the flows that it names; whole or not at all,
// as for every function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/classify/classifier.h"
#include "roost/config/function_config.h"
#include "roost/config/toml_file.h"
#include "roost/conntrack/connection_state.h"
#include "roost/openflow/flow.h"

namespace roost::classifying {

struct Shared;

enum class CacheUse : uint8_t { kAuto, kOn, kOff };

struct PortConfig {
  std::optional<uint16_t> mtu{};  // given to the device, else its own
};

struct Config : config::FunctionConfig {
  CacheUse cache = CacheUse::kAuto;
  bool has_megaflows = true;
  uint64_t connections = 0;  // that `ct` keeps, of each family; 0: no flow may have it
  conntrack::StateTimeouts timeouts{};
  std::string flows_file{};  // relative to the configuration's folder
  uint32_t flows_line = 0;   // where it is named
  std::vector<openflow::Flow> flows{};
  std::vector<PortConfig> ports{};
  std::shared_ptr<Shared> shared{};  // made when EAL runs
  // Of each table of each worker.
  [[nodiscard]] classify::ClassifierConfig classifier() const;
};

using ConfigOutcome = config::Outcome<Config>;

// Of a configuration and of the file of flows that it names.
[[nodiscard]] ConfigOutcome parse_config(std::string_view toml, std::string_view flows);
// A file that cannot be read is a fault.
[[nodiscard]] ConfigOutcome read_config(const std::string& path);

// Flows as text, of a file or of a command, as far as this configuration can have them: what is
// wrong is noted, with the text's lines.
[[nodiscard]] std::vector<openflow::Flow> read_flows(std::string_view text, const Config& config,
                                                     std::vector<config::Fault>& faults);

// A fault for each thing that `file` says differently and that cannot change while packets flow.
// Flows and timeouts can.
[[nodiscard]] std::vector<config::Fault> refused_changes(const Config& running, const Config& file);

}  // namespace roost::classifying
