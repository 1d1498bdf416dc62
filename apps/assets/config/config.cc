#include "apps/assets/config/config.h"

#include <cmath>

#include "roost/config/comparison.h"
#include "roost/config/toml_table.h"

namespace roost::assets {

namespace {

using config::Fault;
using config::TomlTable;

constexpr uint64_t kHostsMax = 100'000'000;
constexpr uint64_t kServicesMax = 1'024;
constexpr size_t kNetworksMax = 256;
constexpr size_t kPortsMax = 64;
constexpr double kAnswerSeconds = 30;  // as long as Linux tracks a datagram that nobody answered
constexpr config::IntegerRange kMtus = {68, 65'535};

void read_assets(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const toml::table* const toml = top.table("assets");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[assets]", faults);
  config.hosts_max =
      static_cast<uint32_t>(table.integer("hosts_max", {1, kHostsMax}).value_or(config.hosts_max));
  config.services_max = static_cast<uint16_t>(
      table.integer("services_max", {1, kServicesMax}).value_or(config.services_max));
  config.networks = table.prefixes("networks", "is no prefix; give ones like 192.0.2.0/24");
  if (config.networks.size() > kNetworksMax)
    table.fault_in("networks", "there are more than 256; join some");
  config.log = table.text("log").value_or("");
  config::read_function(table, config);
  table.refuse_unknown_keys();
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  read_assets(top, faults, config);
  top.require("port", "a [[port]] for each port, in DPDK's order");
  for (const toml::table* toml : top.tables("port")) {
    TomlTable table(*toml, "[[port]]", faults);
    const auto mtu = table.integer("mtu", kMtus);
    config.mtus.push_back(mtu ? std::optional(static_cast<uint16_t>(*mtu)) : std::nullopt);
    table.refuse_unknown_keys();
    if (config.mtus.size() == kPortsMax + 1)
      table.fault(table.line(), "[[port]]: there are more than 64; remove the others");
  }
  config.control = config::read_control(top, faults);
  top.refuse_unknown_keys();
  return config;
}

}  // namespace

Observer::Config Config::observer() const {
  return {.table = {.hosts_max = hosts_max, .services_max = services_max, .hash_seed = hash_seed},
          .answer_ticks = static_cast<uint64_t>(std::ceil(kAnswerSeconds / tick_seconds())),
          .networks = networks,
          .has_log = !log.empty()};
}

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

std::vector<Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the observer");
  config::compare_function(running, file, "[assets]", comparison);
  comparison.compare(0, "[assets] hosts_max", running.hosts_max, file.hosts_max);
  comparison.compare(0, "[assets] services_max", running.services_max, file.services_max);
  comparison.compare(0, "[assets] log", running.log, file.log);
  comparison.compare(0, "the number of [[port]]s", running.mtus.size(), file.mtus.size());
  if (file.mtus.size() == running.mtus.size()) {
    comparison.compare(0, "[[port]] mtu", running.mtus, file.mtus);
  }
  return comparison.take();
}

}  // namespace roost::assets
