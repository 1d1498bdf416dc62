#include "apps/forward/config/config.h"

#include "roost/config/comparison.h"
#include "roost/config/toml_table.h"

namespace roost::forward {

namespace {

constexpr size_t kRoutesMax = 1'000'000;

void read_forward(config::TomlTable& top, std::vector<config::Fault>& faults, Config& config) {
  const toml::table* toml = top.table("forward");
  if (toml == nullptr) return;
  config::TomlTable table(*toml, "[forward]", faults);
  config.is_wire = table.boolean("wire").value_or(false);
  config::read_function(table, config);
  table.refuse_unknown_keys();
}

Config read_everything(config::TomlTable& top, std::vector<config::Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  read_forward(top, faults, config);
  config.network =
      l3::read_network(top, faults, {.needs_addresses = !config.is_wire, .routes_max = kRoutesMax});
  config.control = config::read_control(top, faults);
  top.refuse_unknown_keys();
  if (config.is_wire) l3::check_wire(config.network, "[forward] wire", faults);
  return config;
}

}  // namespace

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

std::vector<config::Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the router");
  config::compare_function(running, file, "[forward]", comparison);
  comparison.compare(0, "[forward] wire", running.is_wire, file.is_wire);
  l3::NetworkConfig same_routes = file.network;
  same_routes.routes = running.network.routes;
  l3::compare_network(running.network, same_routes, comparison);
  return comparison.take();
}

}  // namespace roost::forward
