#include "apps/lb/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "apps/lb/config_check.h"
#include "apps/lb/timeout_names.h"
#include "apps/lb/toml_table.h"
#include "roost/expiry/slot_timers.h"
#include "roost/net/headers.h"

namespace roost::lb {

namespace {

constexpr uint64_t kMicroseconds = 1'000'000;  // in a second
constexpr uint64_t kTickMicrosecondsMin = 1'000;
constexpr uint64_t kTickMicrosecondsMax = 3'600 * kMicroseconds;
constexpr uint64_t kConnectionsMax = uint64_t{1} << 32;
constexpr uint64_t kConnectionsMin = 16;
constexpr uint64_t kMtuMin = 68;      // RFC 791 section 3.2
constexpr uint64_t kVlanMax = 4'094;  // 4,095 is reserved (IEEE 802.1Q table 9-2)
constexpr uint64_t kWeightMax = 65'535;
constexpr uint64_t kSeedMax = INT64_MAX;
constexpr size_t kNameBytesMax = 64;
constexpr uintmax_t kFileBytesMax = 64 << 20;

uint64_t read_tick(TomlTable& top) {
  const std::optional<double> seconds = top.number("tick_seconds");
  if (!seconds) return Config{}.tick_microseconds;
  const double microseconds = *seconds * kMicroseconds;
  if (!(microseconds >= kTickMicrosecondsMin && microseconds <= kTickMicrosecondsMax)) {
    top.fault_in("tick_seconds", "a tick is too short or too long; give 0.001 to 3600 seconds");
    return Config{}.tick_microseconds;
  }
  if (std::abs(microseconds - std::round(microseconds)) > 1e-3) {
    top.fault_in("tick_seconds",
                 "a tick is no whole number of microseconds; give at most six decimals");
  }
  return static_cast<uint64_t>(std::llround(microseconds));
}

TableConfig read_table(TomlTable& top, std::vector<Fault>& faults) {
  TableConfig config;
  const toml::table* toml = top.table("table");
  if (toml == nullptr) return config;
  TomlTable table(*toml, "[table]", faults);
  config.connections =
      table.integer("connections", {kConnectionsMin, kConnectionsMax}).value_or(config.connections);
  config.hash_seed = table.integer("hash_seed", {0, kSeedMax});
  table.refuse_unknown_keys();
  return config;
}

void read_port_addresses(TomlTable& table, PortConfig& port) {
  table.require("addresses", "addresses = [\"192.0.2.1/24\"], the port's own");
  const toml::array* array = table.array("addresses");
  if (array == nullptr) return;
  if (array->empty()) table.fault_in("addresses", "none is given; give at least one");
  for (const toml::node& element : *array) {
    const std::string text = element.value_or(std::string());
    const Result<net::IpPrefix> prefix = net::IpPrefix::parse(text);
    if (!element.is_string() || !prefix) {
      table.fault(line_of(element), table.name() + " addresses: " + in_quotes(text) +
                                        " is no address with its network's length; write it like "
                                        "\"192.0.2.1/24\" or \"2001:db8::1/64\"");
      continue;
    }
    port.addresses.push_back(prefix.value());
  }
}

void read_vlan(TomlTable& table, PortConfig& port) {
  const toml::array* array = table.array("vlan");
  if (array == nullptr) return;
  if (array->size() > net::vlan::kTagsMax) {
    table.fault_in("vlan",
                   std::to_string(array->size()) + " tags; give none, one, or two (outer, inner)");
    return;
  }
  for (const toml::node& element : *array) {
    const int64_t identifier = element.is_integer() ? element.as_integer()->get() : -1;
    if (identifier < 0 || std::cmp_greater(identifier, kVlanMax)) {
      table.fault(line_of(element), table.name() +
                                        " vlan: not a VLAN identifier; give integers "
                                        "from 0 to " +
                                        grouped(kVlanMax));
      continue;
    }
    port.vlan.push_back(static_cast<uint16_t>(identifier));
  }
}

// The value whose name the key has; the first one if the key is absent.
template <class Value, size_t kCount>
Value read_named(TomlTable& table, const char* key,
                 const std::array<std::string_view, kCount>& names) {
  const std::optional<std::string> text = table.text(key);
  if (!text) return {};
  const auto named = std::ranges::find(names, *text);
  if (named != names.end()) return static_cast<Value>(named - names.begin());
  table.fault_in(
      key, in_quotes(*text) + " is none; give one of " + fmt::format("{}", fmt::join(names, ", ")));
  return {};
}

PortConfig read_port(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[port]]", faults);
  PortConfig port{.line = table.line()};
  read_port_addresses(table, port);
  read_vlan(table, port);
  port.mac = table.mac("mac");
  port.promiscuous = table.boolean("promiscuous").value_or(false);
  if (const auto mtu = table.integer("mtu", {kMtuMin, net::kIpBytesMax})) {
    port.mtu = static_cast<uint16_t>(*mtu);
  }
  port.default_neighbour_mac = table.mac("default_neighbour_mac");
  port.rss = read_named<net::RssInput>(table, "rss", kRssInputNames);
  table.refuse_unknown_keys();
  return port;
}

std::optional<NeighbourConfig> read_neighbour(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[neighbour]]", faults);
  table.require("address", "address = \"192.0.2.10\"");
  table.require("mac", "mac = \"02:00:00:00:01:10\"");
  const auto address = table.address("address");
  const auto mac = table.mac("mac");
  table.refuse_unknown_keys();
  if (!address || !mac) return {};
  return NeighbourConfig{*address, *mac, table.line()};
}

std::optional<net::IpPrefix> read_prefix(TomlTable& table) {
  const std::optional<std::string> written = table.text("prefix");
  if (!written) return {};
  const Result<net::IpPrefix> prefix = net::IpPrefix::parse(*written);
  if (prefix) return prefix.value();
  table.fault_in("prefix", in_quotes(*written) +
                               " is no prefix; write it like \"203.0.113.0/24\", or \"0.0.0.0/0\" "
                               "or \"::/0\" for everybody");
  return {};
}

std::optional<RouteConfig> read_route(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[route]]", faults);
  table.require("prefix", "prefix = \"0.0.0.0/0\"");
  table.require("via", "via = \"192.0.2.254\", a gateway on a port's network");
  const auto prefix = read_prefix(table);
  const auto via = table.address("via");
  table.refuse_unknown_keys();
  if (!prefix || !via) return {};
  return RouteConfig{*prefix, *via, table.line()};
}

std::string read_name(TomlTable& table, std::string_view example) {
  table.require("name", example);
  std::string name = table.text("name").value_or("");
  const bool is_plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  if (table.text("name") && (name.empty() || name.size() > kNameBytesMax || !is_plain)) {
    table.fault_in("name", in_quotes(name) + " cannot be a name; give 1 to " +
                               std::to_string(kNameBytesMax) +
                               " visible ASCII characters without spaces");
  }
  return name;
}

std::optional<BackendConfig> read_backend(const toml::table& toml, uint16_t service_port,
                                          std::vector<Fault>& faults) {
  TomlTable table(toml, "backend", faults);
  BackendConfig backend{.line = table.line()};
  backend.name = read_name(table, "name = \"b1\"");
  table.require("address", "address = \"10.0.0.11\"");
  const auto address = table.address("address");
  backend.port =
      static_cast<uint16_t>(table.integer("port", {1, net::kL4PortMax}).value_or(service_port));
  backend.weight = static_cast<uint32_t>(table.integer("weight", {0, kWeightMax}).value_or(1));
  table.refuse_unknown_keys();
  if (!address) return {};
  backend.address = *address;
  return backend;
}

std::optional<net::IpProtocol> read_protocol(TomlTable& table) {
  table.require("protocol", "protocol = \"tcp\" or \"udp\"");
  const std::optional<std::string> text = table.text("protocol");
  if (!text) return {};
  if (*text == "tcp") return net::IpProtocol::kTcp;
  if (*text == "udp") return net::IpProtocol::kUdp;
  table.fault_in("protocol", in_quotes(*text) + " is not balanced; give \"tcp\" or \"udp\"");
  return {};
}

std::optional<ServiceConfig> read_service(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[service]]", faults);
  ServiceConfig service{.line = table.line()};
  service.name = read_name(table, "name = \"web\"");
  table.require("address", "address = \"198.51.100.80\", the virtual address");
  table.require("port", "port = 80");
  table.require("backends", "backends = [{name = \"b1\", address = \"10.0.0.11\"}]");
  const auto address = table.address("address");
  const auto port = table.integer("port", {1, net::kL4PortMax});
  const auto protocol = read_protocol(table);
  service.mode = read_named<Mode>(table, "mode", kModeNames);
  service.port = static_cast<uint16_t>(port.value_or(1));
  const size_t faults_before = faults.size();
  for (const toml::table* backend : table.tables("backends")) {
    if (auto read = read_backend(*backend, service.port, faults)) {
      service.backends.push_back(std::move(*read));
    }
  }
  if (service.backends.empty() && faults.size() == faults_before &&
      table.array("backends") != nullptr) {
    table.fault_in("backends", "none is given; give at least one");
  }
  service.check = read_check(table, faults);
  table.refuse_unknown_keys();
  if (!address || !port || !protocol) return {};
  service.address = *address;
  service.protocol = *protocol;
  return service;
}

// Reads seconds and keeps ticks: at least as long as the file says, less than a tick longer.
void read_timeouts(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const toml::table empty;
  const toml::table* toml = top.table("timeouts");
  TomlTable table(toml == nullptr ? empty : *toml, "[timeouts]", faults);
  const double seconds_max = config.tick_seconds() * kTimeoutTicksMax;
  for (const NamedTimeout& named : kNamedTimeouts) {
    const std::optional<double> given = table.number(named.name);
    const double seconds = given.value_or(named.seconds_default);
    const std::string largest = "more than " + grouped(kTimeoutTicksMax) +
                                " ticks; the largest at this tick_seconds is " +
                                fmt::format("{:.10g}", seconds_max) + ", or make ticks longer";
    const std::optional<TickCount> ticks = timeout_ticks(seconds, config.tick_seconds());
    if (ticks) {
      for (const ConnectionState state : named.states) {
        config.timeouts[static_cast<size_t>(state)] = *ticks;
      }
    } else if (!(seconds > 0)) {
      table.fault_in(named.name, "not a time; give seconds, more than 0");
    } else if (given) {
      table.fault_in(named.name, largest);
    } else {
      top.fault_in("tick_seconds", "the default of [timeouts] " + std::string(named.name) +
                                       " would be " + largest + " or set it");
    }
  }
  table.refuse_unknown_keys();
}

void read_lb(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const toml::table* toml = top.table("lb");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[lb]", faults);
  config.verify_l4_checksum = table.boolean("verify_l4_checksum").value_or(false);
  if (const auto workers = table.integer("workers", {1, kWorkersMax})) {
    config.workers = static_cast<uint32_t>(*workers);
  }
  config.gue_port = static_cast<uint16_t>(
      table.integer("gue_port", {1, net::kL4PortMax}).value_or(config.gue_port));
  table.refuse_unknown_keys();
}

// Reads the ports, neighbours and routes; true when each of them is usable.
bool read_network(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  const size_t faults_before = faults.size();
  top.require("port", "a [[port]] for each port, in DPDK's order");
  for (const toml::table* port : top.tables("port")) {
    config.ports.push_back(read_port(*port, faults));
  }
  for (const toml::table* neighbour : top.tables("neighbour")) {
    if (auto read = read_neighbour(*neighbour, faults)) config.neighbours.push_back(*read);
  }
  for (const toml::table* route : top.tables("route")) {
    if (auto read = read_route(*route, faults)) config.routes.push_back(*read);
  }
  return faults.size() == faults_before;
}

Config read_everything(const toml::table& toml, std::vector<Fault>& faults) {
  Config config;
  TomlTable top(toml, "", faults);
  config.tick_microseconds = read_tick(top);
  config.maglev_seed = top.integer("maglev_seed", {0, kSeedMax}).value_or(0);
  config.table = read_table(top, faults);
  const bool is_network_known = read_network(top, faults, config);
  top.require("service", "a [[service]]");
  for (const toml::table* service : top.tables("service")) {
    if (auto read = read_service(*service, faults)) config.services.push_back(std::move(*read));
  }
  read_timeouts(top, faults, config);
  read_lb(top, faults, config);
  config.fullnat = read_fullnat(top, faults);
  config.control = read_control(top, faults);
  top.refuse_unknown_keys();
  check_config(config, is_network_known, faults);
  return config;
}

}  // namespace

std::optional<TickCount> timeout_ticks(double seconds, double tick_seconds) {
  if (!(seconds > 0) || seconds > tick_seconds * kTimeoutTicksMax * (1 + 1e-12)) return {};
  const double ticks = std::ceil(seconds / tick_seconds - 1e-9);
  return std::clamp(static_cast<TickCount>(ticks), TickCount{1}, kTimeoutTicksMax);
}

ConfigOutcome parse_config(std::string_view text) {
  ConfigOutcome outcome;
  try {
    Config config = read_everything(toml::parse(text), outcome.faults);
    if (outcome.faults.empty()) outcome.config = std::move(config);
  } catch (const toml::parse_error& error) {
    outcome.faults.push_back(
        {std::max<uint32_t>(1, error.source().begin.line),
         "not TOML: " + printable(error.description()) + "; see https://toml.io for the syntax"});
  }
  std::ranges::stable_sort(outcome.faults, {}, &Fault::line);
  return outcome;
}

ConfigOutcome read_config(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return {.faults = {{0, "it cannot be read; give a file that is there and readable"}}};
  }
  if (bytes > kFileBytesMax) {
    return {.faults = {{0, "more than 64 MiB; this is no configuration"}}};
  }
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return parse_config(text);
}

std::string describe(const Fault& fault, std::string_view path) {
  const std::string place = fault.line == 0 ? "" : ":" + std::to_string(fault.line);
  return std::string(path) + place + ": " + fault.text;
}

}  // namespace roost::lb
