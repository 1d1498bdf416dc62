#include "apps/classify/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <variant>

#include "roost/config/comparison.h"
#include "roost/config/timeouts_config.h"
#include "roost/config/toml_table.h"
#include "roost/net/port_group.h"
#include "roost/openflow/flow_text.h"

namespace roost::classifying {

namespace {

using config::Fault;
using config::TomlTable;

constexpr std::array<std::string_view, 3> kCacheWords = {"auto", "on", "off"};
constexpr uint64_t kConnectionsMax = uint64_t{1} << 30;
constexpr uint64_t kMtuMin = 68;
constexpr uint64_t kMtuMax = 65'535;
constexpr double kMegaflowIdleSeconds = 10;  // as of Open vSwitch

void read_classify(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  top.require("classify", "a [classify] with flows = \"flows.txt\"");
  const toml::table* toml = top.table("classify");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[classify]", faults);
  table.require("flows", "flows = \"flows.txt\", as `ovs-ofctl add-flows` takes them");
  config.flows_file = table.text("flows").value_or("");
  config.flows_line = table.line_of_key("flows");
  config.cache = static_cast<CacheUse>(table.choice("exact_match_cache", kCacheWords).value_or(0));
  config.has_megaflows = table.boolean("megaflows").value_or(true);
  config.connections = table.integer("connections", {0, kConnectionsMax}).value_or(0);
  config::read_function(table, config);
  table.refuse_unknown_keys();
}

PortConfig read_port(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[port]]", faults);
  PortConfig port;
  if (const auto mtu = table.integer("mtu", {kMtuMin, kMtuMax}))
    port.mtu = static_cast<uint16_t>(*mtu);
  table.refuse_unknown_keys();
  return port;
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  read_classify(top, faults, config);
  top.require("port", "a [[port]] for each port, in DPDK's order; the first is OpenFlow's port 1");
  for (const toml::table* port : top.tables("port")) {
    config.ports.push_back(read_port(*port, faults));
  }
  if (config.ports.size() > net::kReplicatedPortsMax) {
    faults.push_back({0, fmt::format("[[port]]: there are {}; give at most {}", config.ports.size(),
                                     net::kReplicatedPortsMax)});
  }
  config.timeouts =
      config::read_timeouts(top, conntrack::kNamedTimeouts, config.tick_seconds(), faults);
  config.control = config::read_control(top, faults);
  top.refuse_unknown_keys();
  return config;
}

// What this configuration has not, of what a flow asks for; "" if it has all of it.
std::string missing_for(const openflow::Flow& flow, const Config& config) {
  for (const openflow::Action& action : flow.actions) {
    const auto* const output = std::get_if<openflow::Output>(&action);
    if (output != nullptr && (output->port == 0 || output->port > config.ports.size())) {
      return fmt::format(
          "'output:{}': there is no such port; give 1 to {}, in the order of the "
          "[[port]]s",
          output->port, config.ports.size());
    }
    if (std::holds_alternative<openflow::Track>(action) && config.connections == 0) {
      return "'ct': no connections are tracked; give [classify] connections";
    }
  }
  return "";
}

// The flows of the file that the configuration names, with its faults as the configuration's.
void take_flows(std::string_view text, Config& config, std::vector<Fault>& faults) {
  std::vector<Fault> of_flows;
  config.flows = read_flows(text, config, of_flows);
  for (const Fault& fault : of_flows) {
    faults.push_back({config.flows_line, config::describe(fault, config.flows_file)});
  }
}

// A configuration without its flows, which are read by this.
template <class ReadFlows>
ConfigOutcome parse_with(std::string_view toml, ReadFlows&& read_flows_of) {
  ConfigOutcome outcome = config::parse(toml, read_everything);
  if (!outcome.config) return outcome;
  read_flows_of(*outcome.config, outcome.faults);
  if (!outcome.faults.empty()) outcome.config.reset();
  return outcome;
}

}  // namespace

classify::ClassifierConfig Config::classifier() const {
  classify::ClassifierConfig classifier{.has_megaflows = has_megaflows, .hash_seed = hash_seed};
  if (cache == CacheUse::kOff) classifier.cache_entries = 0;
  classifier.is_cache_always_used = cache == CacheUse::kOn;
  classifier.megaflow_idle_ticks =
      std::max<TickCount>(1, static_cast<TickCount>(kMegaflowIdleSeconds / tick_seconds()));
  return classifier;
}

std::vector<openflow::Flow> read_flows(std::string_view text, const Config& config,
                                       std::vector<Fault>& faults) {
  return openflow::parse_flows(
      text, faults, [&](const openflow::Flow& flow) { return missing_for(flow, config); });
}

ConfigOutcome parse_config(std::string_view toml, std::string_view flows) {
  return parse_with(
      toml, [&](Config& config, std::vector<Fault>& faults) { take_flows(flows, config, faults); });
}

ConfigOutcome read_config(const std::string& path) {
  const config::Outcome<std::string> toml = config::read_text(path);
  if (!toml.config) return {.faults = toml.faults};
  return parse_with(*toml.config, [&](Config& config, std::vector<Fault>& faults) {
    const auto file = std::filesystem::path(path).parent_path() / config.flows_file;
    const config::Outcome<std::string> text = config::read_text(file.string());
    if (text.config) return take_flows(*text.config, config, faults);
    faults.push_back({config.flows_line, config::describe(text.faults.front(), file.string())});
  });
}

std::vector<Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the classifier");
  config::compare_function(running, file, "[classify]", comparison);
  comparison.compare(0, "[classify] exact_match_cache", running.cache, file.cache);
  comparison.compare(0, "[classify] megaflows", running.has_megaflows, file.has_megaflows);
  comparison.compare(0, "[classify] connections", running.connections, file.connections);
  comparison.compare(0, "the number of [[port]]s", running.ports.size(), file.ports.size());
  for (size_t i = 0; i < std::min(running.ports.size(), file.ports.size()); ++i)
    comparison.compare(0, "[[port]] mtu", running.ports[i].mtu, file.ports[i].mtu);
  return comparison.take();
}

}  // namespace roost::classifying
