#include "apps/switch/config/config.h"

#include <array>
#include <utility>

#include "roost/config/comparison.h"
#include "roost/config/first_lines.h"
#include "roost/config/message_text.h"
#include "roost/config/toml_table.h"
#include "roost/expiry/slot_timers.h"
#include "roost/net/port_group.h"

namespace roost::switching {

namespace {

using config::Fault;
using config::TomlTable;

constexpr uint64_t kEntriesMin = 131'072;  // as many as keys of 60 bits need (0021)
constexpr uint64_t kEntriesMax = uint64_t{1} << 32;
constexpr uint64_t kAgeingSecondsMin = 10;
constexpr uint64_t kAgeingSecondsMax = 1'000'000;
constexpr uint64_t kMovesMax = 1'000;
constexpr uint64_t kMoveSecondsMax = kTimeoutTicksMax;  // of MoveLimit, a tick a second
constexpr uint64_t kRateMax = UINT32_MAX;
constexpr uint64_t kMtuMin = 68;
constexpr uint64_t kMtuMax = 65'535;
constexpr uint16_t kVlanDefault = 1;  // as of most switches (IEEE 802.1Q table 9-2)
constexpr std::array<std::string_view, 2> kForwardOrDrop = {"forward", "drop"};

void read_switch(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const toml::table* toml = top.table("switch");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[switch]", faults);
  const auto integer = [&](const char* key, config::IntegerRange range, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    value = static_cast<Value>(table.integer(key, range).value_or(value));
  };
  integer("entries_max", {kEntriesMin, kEntriesMax}, config.entries_max);
  integer("static_max", {0, kEntriesMax}, config.static_max);
  integer("ageing_seconds", {kAgeingSecondsMin, kAgeingSecondsMax}, config.ageing_seconds);
  integer("moves_max", {1, kMovesMax}, config.moves.moves_max);
  integer("moves_seconds", {1, kMoveSecondsMax}, config.moves.window_seconds);
  integer("hold_seconds", {1, kMoveSecondsMax}, config.moves.hold_seconds);
  config.drops_bpdus = table.choice("bpdu", kForwardOrDrop) == 1;
  config::read_function(table, config);
  table.refuse_unknown_keys();
}

constexpr std::string_view kOutOfRange = "this is out of range";
constexpr config::IntegerRange kVlans = {bridge::kVlanMin, bridge::kVlanMax};

void read_vlans(TomlTable& table, bridge::VlanPorts::Port& vlans) {
  if (const auto vlan = table.integer("untagged", kVlans)) {
    vlans.untagged = static_cast<uint16_t>(*vlan);
  }
  for (const uint64_t vlan : table.integers("tagged", kVlans, kOutOfRange)) {
    vlans.tagged.push_back(static_cast<uint16_t>(vlan));
  }
  config::FirstLines<uint16_t> first;
  if (vlans.untagged) first.note(*vlans.untagged, 1);
  for (const uint16_t vlan : vlans.tagged) {
    if (first.note(vlan, 1) == 0) continue;
    table.fault_in("tagged", "VLAN " + std::to_string(vlan) +
                                 " is there twice; a port has a VLAN once, with tags or without");
  }
}

PortConfig read_port(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[port]]", faults);
  PortConfig port;
  port.line = table.line();
  read_vlans(table, port.rules.vlans);
  port.learn_max = table.integer("learn_max", {0, kEntriesMax});
  port.rules.drops_not_learned = table.choice("learn_full", kForwardOrDrop) == 1;
  constexpr std::array<const char*, bridge::kFloodedKinds> kLimits = {
      "broadcast_max", "multicast_max", "unknown_unicast_max"};
  for (size_t kind = 0; kind < kLimits.size(); ++kind) {
    if (const auto limit = table.integer(kLimits[kind], {0, kRateMax})) {
      port.rules.limits[kind] = static_cast<uint32_t>(*limit);
    }
  }
  if (const auto mtu = table.integer("mtu", {kMtuMin, kMtuMax})) {
    port.mtu = static_cast<uint16_t>(*mtu);
    port.rules.mtu = *port.mtu;
  }
  table.refuse_unknown_keys();
  return port;
}

void read_mirror(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const toml::table* toml = top.table("mirror");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[mirror]", faults);
  table.require("to", "to = 3, the port that gets the copies");
  const uint64_t last = config.ports.size() - 1;
  bridge::Mirror mirror{.vlans = std::vector<bool>(bridge::kVlanMax + 1)};
  const auto to = table.integer("to", {0, last});
  for (const uint64_t port : table.integers("ports", {0, last}, kOutOfRange)) {
    mirror.ports |= net::PortSet::of(static_cast<unsigned>(port));
  }
  for (const uint64_t vlan : table.integers("vlans", kVlans, kOutOfRange)) {
    mirror.vlans[vlan] = true;
  }
  if (!toml->contains("ports") && !toml->contains("vlans")) {
    table.fault(table.line(), "[mirror] has neither ports nor vlans; say what is mirrored");
  }
  table.refuse_unknown_keys();
  if (!to) return;
  mirror.to = static_cast<uint16_t>(*to);
  if (mirror.ports.has(mirror.to))
    table.fault_in("ports", "a port cannot mirror itself; remove " + std::to_string(*to));
  config.mirror = std::move(mirror);
}

// A port of which nothing is said has VLAN 1 untagged, unless it only gets what others do.
void give_default_vlan(Config& config) {
  for (size_t i = 0; i < config.ports.size(); ++i) {
    bridge::VlanPorts::Port& vlans = config.ports[i].rules.vlans;
    const bool is_mirror = config.mirror && config.mirror->to == i;
    if (!vlans.untagged && vlans.tagged.empty() && !is_mirror) vlans.untagged = kVlanDefault;
  }
}

void read_ports(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  top.require("port", "a [[port]] for each port, in DPDK's order");
  for (const toml::table* port : top.tables("port")) {
    config.ports.push_back(read_port(*port, faults));
  }
  if (config.ports.size() <= net::kReplicatedPortsMax) return;
  faults.push_back({config.ports[net::kReplicatedPortsMax].line,
                    "[[port]]: a switch has at most " + std::to_string(net::kReplicatedPortsMax) +
                        " ports; remove the others"});
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  read_switch(top, faults, config);
  read_ports(top, faults, config);
  config.control = config::read_control(top, faults);
  if (config.ports.empty() || config.ports.size() > net::kReplicatedPortsMax) return config;
  read_mirror(top, faults, config);
  give_default_vlan(config);
  config.stations = read_stations(top, config.ports.size(), config.rules()->vlans, faults);
  if (config.stations.size() > config.static_max) {
    faults.push_back({config.stations[config.static_max].line,
                      "[[station]]: there are " + config::grouped(config.stations.size()) +
                          ", and room for " + config::grouped(config.static_max) +
                          "; give [switch] static_max more"});
  }
  top.refuse_unknown_keys();
  return config;
}

// What of a port cannot change in a run.
[[nodiscard]] std::vector<std::optional<uint16_t>> mtus_of(const Config& config) {
  std::vector<std::optional<uint16_t>> mtus;
  for (const PortConfig& port : config.ports) mtus.push_back(port.mtu);
  return mtus;
}

}  // namespace

std::shared_ptr<const bridge::SwitchRules> Config::rules() const {
  bridge::SwitchConfig rules{
      .mirror = mirror, .drops_bpdus = drops_bpdus, .tick_seconds = tick_seconds()};
  for (const PortConfig& port : ports) rules.ports.push_back(port.rules);
  return std::make_shared<const bridge::SwitchRules>(std::move(rules));
}

std::vector<std::optional<uint64_t>> Config::learn_max() const {
  std::vector<std::optional<uint64_t>> learn_max;
  for (const PortConfig& port : ports) learn_max.push_back(port.learn_max);
  return learn_max;
}

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

std::vector<Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the switch");
  config::compare_function(running, file, "[switch]", comparison);
  comparison.compare(0, "[switch] entries_max", running.entries_max, file.entries_max);
  comparison.compare(0, "[switch] static_max", running.static_max, file.static_max);
  comparison.compare(0, "[switch] ageing_seconds", running.ageing_seconds, file.ageing_seconds);
  comparison.compare(0, "[switch] moves_max", running.moves.moves_max, file.moves.moves_max);
  comparison.compare(0, "[switch] moves_seconds", running.moves.window_seconds,
                     file.moves.window_seconds);
  comparison.compare(0, "[switch] hold_seconds", running.moves.hold_seconds,
                     file.moves.hold_seconds);
  comparison.compare(0, "the number of [[port]]s", running.ports.size(), file.ports.size());
  if (file.ports.size() == running.ports.size()) {
    comparison.compare(0, "[[port]] mtu", mtus_of(running), mtus_of(file));
  }
  return comparison.take();
}

}  // namespace roost::switching
