#include "apps/nat/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "roost/config/comparison.h"
#include "roost/config/first_lines.h"
#include "roost/config/message_text.h"
#include "roost/config/timeouts_config.h"
#include "roost/config/toml_table.h"
#include "roost/net/martian.h"

namespace roost::nat {

namespace {

using config::Fault;
using config::TomlTable;
using conntrack::StaticMapping;

constexpr uint64_t kMaxRoutes = 1'000'000;
constexpr uint64_t kMaxConnections = uint64_t{1} << 28;
constexpr uint64_t kMaxAddresses = 256;
constexpr uint64_t kMaxPortsPerHost = uint64_t{3} * 65'535;
// A timer holds 1,023 ticks: two hours and four minutes take ticks of this length.
constexpr uint64_t kTickDefault = 8'000'000;
constexpr std::array<std::string_view, 2> kIpv6Words = {"drop", "route"};
constexpr std::array<std::string_view, 2> kForwardProtocols = {"tcp", "udp"};

// "192.0.2.1:80"
std::optional<net::Endpoint4> parse_endpoint(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {};
  const Result<net::Ipv4Address> address = net::Ipv4Address::parse(text.substr(0, colon));
  const std::string digits = text.substr(colon + 1);
  const bool is_number = !digits.empty() && digits.size() <= 5 && digits.front() != '0' &&
                         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!address || !is_number || std::stoul(digits) > UINT16_MAX) return {};
  return net::Endpoint4{address.value(), static_cast<uint16_t>(std::stoul(digits))};
}

std::optional<net::Endpoint4> read_endpoint(TomlTable& table, const char* key) {
  table.require(key, std::string(key) + " = \"192.0.2.1:80\"");
  const std::optional<std::string> text = table.text(key);
  if (!text) return {};
  const std::optional<net::Endpoint4> endpoint = parse_endpoint(*text);
  if (!endpoint) {
    table.fault_in(key, config::in_quotes(*text) +
                            " is no IPv4 address with a port; write it like \"192.0.2.1:80\"");
  }
  return endpoint;
}

void read_external(TomlTable& table, Config& config) {
  table.require("external", "external = [\"192.0.2.1\"], the addresses that others see");
  const toml::array* const array = table.array("external");
  if (array == nullptr) return;
  config.external_line = table.line_of_key("external");
  if (array->empty() || array->size() > kMaxAddresses)
    table.fault_in("external", fmt::format("{} addresses; give 1 to {}", array->size(),
                                           uint64_t{kMaxAddresses}));
  std::set<net::Ipv4Address> seen;
  for (const toml::node& element : *array) {
    const std::string text = element.value_or(std::string());
    const Result<net::Ipv4Address> address = net::Ipv4Address::parse(text);
    const uint32_t line = config::line_of(element);
    if (!address) {
      table.fault(line, "[nat] external: " + config::in_quotes(text) +
                            " is no IPv4 address; write it like \"192.0.2.1\"");
    } else if (!seen.insert(address.value()).second) {
      table.fault(line, "[nat] external: " + text + " stands there twice; remove one");
    } else {
      config.external.push_back(address.value());
    }
  }
}

void read_port_range(TomlTable& table, Config& config) {
  const auto ports = table.integers("ports", {1'024, UINT16_MAX}, "no port that mappings may take");
  if (ports.empty()) return;
  if (ports.size() != 2 || ports[0] >= ports[1]) {
    table.fault_in("ports",
                   "these are no ports; give the first and the last one, as in [1024, 65535]");
    return;
  }
  config.first_port = static_cast<uint16_t>(ports[0]);
  config.last_port = static_cast<uint16_t>(ports[1]);
}

void read_nat(TomlTable& top, std::vector<Fault>& faults, Config& config) {
  top.require("nat", "a [nat] with external = [\"192.0.2.1\"]");
  const toml::table* const toml = top.table("nat");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[nat]", faults);
  read_external(table, config);
  read_port_range(table, config);
  config.ports_per_host =
      static_cast<uint32_t>(table.integer("ports_per_host", {0, kMaxPortsPerHost}).value_or(0));
  config.filtering = static_cast<Filtering>(table.choice("filtering", kFilteringNames).value_or(0));
  config.routes_ipv6 = table.choice("ipv6", kIpv6Words) == size_t{1};
  config.connections = table.integer("connections", {1, kMaxConnections}).value_or(100'000);
  config::read_function(table, config);
  table.refuse_unknown_keys();
}

std::optional<StaticMapping> read_forward(const toml::table& toml, std::vector<Fault>& faults) {
  TomlTable table(toml, "[[forward]]", faults);
  table.require("protocol", "protocol = \"tcp\", or \"udp\"");
  const auto protocol = table.choice("protocol", kForwardProtocols);
  const auto external = read_endpoint(table, "external");
  const auto inside = read_endpoint(table, "inside");
  table.refuse_unknown_keys();
  if (!protocol || !external || !inside) return {};
  return StaticMapping{*protocol == 0 ? net::IpProtocol::kTcp : net::IpProtocol::kUdp, *external,
                       *inside, table.line()};
}

// A port leads to one endpoint, an endpoint has one port, and a host one address: what it sends
// belongs to the worker that has the address.
void check_forwards(const Config& config, std::vector<Fault>& faults) {
  config::FirstLines<std::tuple<net::IpProtocol, net::Endpoint4>> externals;
  config::FirstLines<std::tuple<net::IpProtocol, net::Endpoint4>> insides;
  std::map<net::Ipv4Address, const StaticMapping*> hosts;
  const auto fault = [&](const StaticMapping& forward, const std::string& text) {
    faults.push_back({forward.line, "[[forward]] " + text});
  };
  for (const StaticMapping& forward : config.forwards) {
    const std::string inside = forward.inside.address.format();
    if (std::ranges::find(config.external, forward.external.address) == config.external.end())
      fault(forward, "external: " + forward.external.address.format() +
                         " is none of [nat] external; add it there, or give one of those");
    if (const uint32_t line = externals.note({forward.protocol, forward.external}, forward.line))
      fault(forward, "external: the same port as at " + config::at_line(line) + "; give another");
    if (const uint32_t line = insides.note({forward.protocol, forward.inside}, forward.line))
      fault(forward, "inside: the same endpoint as at " + config::at_line(line) +
                         "; an endpoint has one external port");
    if (!config.network.is_reachable(forward.inside.address))
      fault(forward, "inside: no port's network and no [[route]] has " + inside + "; add one");
    const auto [place, is_first] = hosts.emplace(forward.inside.address, &forward);
    if (!is_first && place->second->external.address != forward.external.address)
      fault(forward, "external: " + inside + " has another external address at " +
                         config::at_line(place->second->line) + "; a host has one");
  }
  if (config.forwards.size() > Config::kForwardsMax)
    faults.push_back({0, fmt::format("[[forward]]: there are {}; give at most {}",
                                     config.forwards.size(), uint64_t{Config::kForwardsMax})});
}

void check_sides(const Config& config, std::vector<Fault>& faults) {
  const auto inside = std::ranges::count_if(config.network.ports, &l3::PortConfig::is_inside);
  if (inside == 0 || inside == static_cast<ptrdiff_t>(config.network.ports.size()))
    faults.push_back({0,
                      "[[port]] inside: there must be ports on both sides; say inside = true "
                      "at those towards the hosts that are translated"});
  for (const net::Ipv4Address& address : config.external) {
    const l3::PortConfig* const owner = config.network.find_owner(address);
    if (owner != nullptr && owner->is_inside)
      faults.push_back(
          {config.external_line, "[nat] external: " + address.format() +
                                     " is the address of an inside [[port]]; give one of outside"});
    if (net::is_martian(address))
      faults.push_back({config.external_line, "[nat] external: no packet may come from " +
                                                  address.format() + "; give another"});
  }
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.tick_microseconds = config::read_tick(top, kTickDefault);
  read_nat(top, faults, config);
  for (const toml::table* const forward : top.tables("forward")) {
    if (const auto read = read_forward(*forward, faults)) config.forwards.push_back(*read);
  }
  config.network = l3::read_network(top, faults, {.routes_max = kMaxRoutes, .has_sides = true});
  config.timeouts = config::read_timeouts(top, kTimeouts, config.tick_seconds(), faults);
  config.control = config::read_control(top, faults);
  top.refuse_unknown_keys();
  if (config.network.is_whole) {
    check_forwards(config, faults);
    check_sides(config, faults);
  }
  return config;
}

}  // namespace

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

std::vector<Fault> refused_changes(const Config& running, const Config& file) {
  config::Comparison comparison("the NAT");
  const auto compare = [&](const char* what, const auto& before, const auto& now) {
    comparison.compare(0, what, before, now);
  };
  config::compare_function(running, file, "[nat]", comparison);
  compare("[nat] external", running.external, file.external);
  compare("[nat] ports", std::pair(running.first_port, running.last_port),
          std::pair(file.first_port, file.last_port));
  compare("[nat] filtering", running.filtering, file.filtering);
  compare("[nat] ipv6", running.routes_ipv6, file.routes_ipv6);
  compare("[nat] connections", running.connections, file.connections);
  l3::NetworkConfig network = file.network;
  network.routes = running.network.routes;
  l3::compare_network(running.network, network, comparison);
  return comparison.take();
}

}  // namespace roost::nat
