#include "apps/lb/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/lb/config/config_check.h"
#include "roost/config/message_text.h"
#include "roost/config/tick_config.h"
#include "roost/config/timeouts_config.h"
#include "roost/expiry/slot_timers.h"
#include "roost/net/headers.h"

namespace roost::lb {

namespace {

constexpr uint64_t kMarkMax = std::numeric_limits<uint32_t>::max();
constexpr size_t kNameBytesMax = 64;
constexpr size_t kStateBytesMax = 90;  // a socket's path is in it: struct sockaddr_un has 108

TableConfig read_table(config::TomlTable& top, std::vector<config::Fault>& faults) {
  TableConfig config;
  const toml::table* toml = top.table("table");
  if (toml == nullptr) return config;
  config::TomlTable table(*toml, "[table]", faults);
  config.connections =
      table.integer("connections", {TableConfig::kConnectionsMin, TableConfig::kConnectionsMax})
          .value_or(config.connections);
  config.hash_seed = table.integer("hash_seed", {0, config::kSeedMax});
  table.refuse_unknown_keys();
  return config;
}

std::string read_name(config::TomlTable& table, std::string_view example) {
  table.require("name", example);
  std::string name = table.text("name").value_or("");
  const bool is_plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  if (table.text("name") && (name.empty() || name.size() > kNameBytesMax || !is_plain)) {
    table.fault_in("name", config::in_quotes(name) + " cannot be a name; give 1 to " +
                               std::to_string(kNameBytesMax) +
                               " visible ASCII characters without spaces");
  }
  return name;
}

std::optional<BackendConfig> read_backend(const toml::table& toml, const ServicePorts& ports,
                                          std::vector<config::Fault>& faults) {
  config::TomlTable table(toml, "backend", faults);
  BackendConfig backend{.line = table.line()};
  backend.name = read_name(table, "name = \"b1\"");
  table.require("address", "address = \"10.0.0.11\"");
  const auto address = table.address("address");
  backend.port = read_backend_port(table, ports);
  backend.weight =
      static_cast<uint32_t>(table.integer("weight", {0, BackendConfig::kWeightMax}).value_or(1));
  backend.check_mark =
      static_cast<uint32_t>(table.integer("check_mark", {1, kMarkMax}).value_or(0));
  backend.is_fallback = table.boolean("fallback").value_or(false);
  table.refuse_unknown_keys();
  if (!address) return {};
  backend.address = *address;
  return backend;
}

std::optional<net::IpProtocol> read_protocol(config::TomlTable& table) {
  table.require("protocol", "protocol = \"tcp\" or \"udp\"");
  const std::optional<std::string> text = table.text("protocol");
  if (!text) return {};
  if (*text == "tcp") return net::IpProtocol::kTcp;
  if (*text == "udp") return net::IpProtocol::kUdp;
  table.fault_in("protocol",
                 config::in_quotes(*text) + " is not balanced; give \"tcp\" or \"udp\"");
  return {};
}

// `above`: what holds for all services.
std::optional<ServiceConfig> read_service(const toml::table& toml, const Config& above,
                                          std::vector<config::Fault>& faults) {
  config::TomlTable table(toml, "[[service]]", faults);
  ServiceConfig service{.line = table.line()};
  service.name = read_name(table, "name = \"web\"");
  table.require("address", "address = \"198.51.100.80\", the virtual address");
  table.require("backends", "backends = [{name = \"b1\", address = \"10.0.0.11\"}]");
  const auto address = table.address("address");
  const std::optional<ServicePorts> ports = read_ports(toml, table);
  const auto protocol = read_protocol(table);
  service.mode = static_cast<Mode>(table.choice("mode", kModeNames).value_or(0));
  service.algorithm =
      static_cast<Algorithm>(table.choice("algorithm", kAlgorithmNames).value_or(0));
  service.is_one_packet = table.boolean("one_packet").value_or(false);
  service.sends_proxy_header = table.boolean("proxy_protocol").value_or(false);
  service.refuses = table.boolean("refuse").value_or(above.refuses);
  service.ports = ports.value_or(ServicePorts::one(1));
  const size_t faults_before = faults.size();
  for (const toml::table* backend : table.tables("backends")) {
    if (auto read = read_backend(*backend, service.ports, faults)) {
      service.backends.push_back(std::move(*read));
    }
  }
  if (service.backends.empty() && faults.size() == faults_before &&
      table.array("backends") != nullptr) {
    table.fault_in("backends", "none is given; give at least one");
  }
  service.check = read_check(table, faults);
  if (service.check && !service.check->port && !service.ports.is_one()) {
    table.fault_in("check", "the service has several ports; say which one is asked, as in port = " +
                                std::to_string(service.ports.first));
  }
  service.timeouts = config::read_given_timeouts(
      table, "[service.timeouts]", conntrack::kTcpUdpTimeouts, above.tick_seconds(), faults);
  table.refuse_unknown_keys();
  if (!address || !ports || !protocol) return {};
  service.address = *address;
  service.protocol = *protocol;
  return service;
}

void read_lb(config::TomlTable& top, std::vector<config::Fault>& faults, Config& config) {
  const toml::table* toml = top.table("lb");
  if (toml == nullptr) return;
  config::TomlTable table(*toml, "[lb]", faults);
  config.verify_l4_checksum = table.boolean("verify_l4_checksum").value_or(false);
  config.refuses = table.boolean("refuse").value_or(false);
  config.workers = config::read_workers(table);
  const std::optional<std::string> state = table.text("state");
  if (state && (!state->starts_with('/') || state->size() > kStateBytesMax)) {
    table.fault_in("state", config::in_quotes(*state) +
                                " cannot be a directory for what outlives the process; give an "
                                "absolute path of at most " +
                                std::to_string(kStateBytesMax) + " bytes");
  }
  config.state = state.value_or("");
  config.gue_port = static_cast<uint16_t>(
      table.integer("gue_port", {1, net::kL4PortMax}).value_or(config.gue_port));
  table.refuse_unknown_keys();
}

Config read_everything(config::TomlTable& top, std::vector<config::Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top);
  config.maglev_seed = top.integer("maglev_seed", {0, config::kSeedMax}).value_or(0);
  config.table = read_table(top, faults);
  config.network = l3::read_network(top, faults);
  read_lb(top, faults, config);
  top.require("service", "a [[service]]");
  for (const toml::table* service : top.tables("service")) {
    if (auto read = read_service(*service, config, faults)) {
      config.services.push_back(std::move(*read));
    }
  }
  config.timeouts =
      config::read_timeouts(top, conntrack::kTcpUdpTimeouts, config.tick_seconds(), faults);
  config.fullnat = read_fullnat(top, faults);
  config.control = config::read_control(top, faults, true);
  config.announce = read_announce(top, faults);
  top.refuse_unknown_keys();
  check_config(config, faults);
  return config;
}

}  // namespace

ConfigOutcome parse_config(std::string_view text) {
  ConfigOutcome outcome = config::parse(text, read_everything);
  if (outcome.config) outcome.config->text = text;
  return outcome;
}

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

}  // namespace roost::lb
