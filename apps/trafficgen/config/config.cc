#include "apps/trafficgen/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "roost/config/message_text.h"
#include "roost/config/tick_config.h"

namespace roost::trafficgen {
namespace {

using config::Fault;
using config::TomlTable;

constexpr uint64_t kFrameBytesMin = 64;
constexpr uint64_t kFrameBytesMax = 1'518;
constexpr uint64_t kFlowsMax = uint64_t{1} << 31;
constexpr uint64_t kPortMax = 31;
constexpr double kRateMax = 1e9;
constexpr double kSecondsMax = 86'400;
constexpr double kBurstMicrosecondsMax = 1e6;
constexpr std::array<std::string_view, 3> kArrivalNames = {"poisson", "paced", "bursts"};
constexpr std::array<std::string_view, 3> kLengthNames = {"fixed", "zipf", "pareto"};
constexpr std::array<std::string_view, 2> kProtocolNames = {"tcp", "udp"};
constexpr std::array<std::string_view, 2> kFloodNames = {"syn", "ack"};

// A number in a range, or nothing; what is outside is a fault.
std::optional<double> read_number(TomlTable& table, std::string_view key, double min, double max) {
  const std::optional<double> number = table.number(key);
  if (!number) return {};
  if (*number >= min && *number <= max) return number;
  table.fault_in(key, fmt::format("{} is out of range; give {} to {}", *number, min, max));
  return {};
}

std::optional<traffic::Profile> read_profile(TomlTable& table) {
  const std::optional<std::string> name = table.text("profile");
  if (!name) return traffic::kCampusLike;
  for (const traffic::Profile& profile : traffic::kProfiles)
    if (profile.name == *name) return profile;
  std::string names;
  for (const traffic::Profile& profile : traffic::kProfiles)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", profile.name);
  table.fault_in("profile", config::in_quotes(*name) + " is none; there are " + names);
  return {};
}

void read_frames(TomlTable& table, const toml::table& toml, TrafficConfig& config) {
  const toml::node* node = toml.get("frame_bytes");
  if (node == nullptr || node->is_integer()) {
    config.frame_bytes = static_cast<uint16_t>(
        table.integer("frame_bytes", {kFrameBytesMin, kFrameBytesMax}).value_or(64));
    return;
  }
  const std::optional<std::string> text = table.text("frame_bytes");
  if (text == "imix") {
    config.frames = FrameLaw::kImix;
  } else if (text) {
    table.fault_in("frame_bytes",
                   config::in_quotes(*text) + " is no size; give 64 to 1518, or \"imix\"");
  }
}

void read_stream(TomlTable& table, traffic::ConnectionStream::Config& stream) {
  if (const auto profile = read_profile(table)) stream.profile = *profile;
  traffic::Profile& profile = stream.profile;
  profile.flows = table.integer("flows", {1, kFlowsMax}).value_or(profile.flows);
  profile.seconds = read_number(table, "seconds", 1e-3, kSecondsMax).value_or(profile.seconds);
  profile.flow_seconds =
      read_number(table, "flow_seconds", 1e-6, kSecondsMax).value_or(profile.flow_seconds);
  profile.length.mean = read_number(table, "mean_packets", 1, 1e6).value_or(profile.length.mean);
  profile.length.tail = read_number(table, "tail", 0.1, 10).value_or(profile.length.tail);
  if (const auto law = table.choice("length_law", kLengthNames))
    profile.length.law = static_cast<traffic::LengthLaw>(*law);
  stream.windows = static_cast<unsigned>(table.integer("windows", {1, 1'024}).value_or(1));
  if (const auto law = table.choice("arrivals", kArrivalNames))
    stream.arrivals = static_cast<traffic::ArrivalLaw>(*law);
  stream.burst = static_cast<uint32_t>(table.integer("burst", {1, 100'000}).value_or(32));
  stream.seed = table.integer("seed", {0, config::kSeedMax}).value_or(1);
}

TrafficConfig read_traffic(TomlTable& top, std::vector<Fault>& faults) {
  TrafficConfig config;
  config.stream.profile = traffic::kCampusLike;
  const toml::table* toml = top.table("traffic");
  if (toml == nullptr) return config;
  TomlTable table(*toml, "[traffic]", faults);
  read_stream(table, config.stream);
  read_frames(table, *toml, config);
  config.answers = table.boolean("answers").value_or(true);
  config.ends.fin = read_number(table, "fin", 0, 1).value_or(config.ends.fin);
  config.ends.rst = read_number(table, "rst", 0, 1).value_or(config.ends.rst);
  if (config.ends.fin + config.ends.rst > 1)
    table.fault_in("rst",
                   "with \"fin\" it is more than all connections; give shares whose sum is "
                   "at most 1");
  table.refuse_unknown_keys();
  return config;
}

std::vector<net::IpPrefix> read_prefixes(TomlTable& table) {
  const toml::array* array = table.array("prefixes");
  if (array == nullptr) return {};
  if (array->empty()) table.fault_in("prefixes", "none is given; give at least one");
  const auto prefixes =
      table.prefixes("prefixes", "is no prefix; write it like \"203.0.113.0/24\"");
  const auto is_ipv6 = [](const net::IpPrefix& prefix) { return prefix.address.is_ipv6(); };
  const auto ipv6_count = std::ranges::count_if(prefixes, is_ipv6);
  if (ipv6_count > 1 || std::ssize(prefixes) - ipv6_count > 1)
    table.fault_in("prefixes", "two are of one family; give one of each at most");
  return prefixes;
}

SideConfig read_side(TomlTable& top, std::string_view name, uint16_t port_default,
                     std::vector<Fault>& faults) {
  SideConfig side{.port = port_default};
  top.require(name, fmt::format("[{}]", name));
  const toml::table* toml = top.table(name);
  if (toml == nullptr) return side;
  TomlTable table(*toml, fmt::format("[{}]", name), faults);
  side.port = static_cast<uint16_t>(table.integer("port", {0, kPortMax}).value_or(port_default));
  table.require("mac", "mac = \"02:00:00:00:00:01\", that frames come from");
  table.require("gateway", "gateway = \"02:00:00:00:00:02\", the MAC that frames are sent to");
  table.require("prefixes", "prefixes = [\"203.0.113.0/24\"]");
  side.mac = table.mac("mac").value_or(net::MacAddress{});
  side.gateway = table.mac("gateway").value_or(net::MacAddress{});
  if (const auto vlan = table.integer("vlan", {1, 4'094})) side.vlan = static_cast<uint16_t>(*vlan);
  side.prefixes = read_prefixes(table);
  table.refuse_unknown_keys();
  return side;
}

std::optional<ServiceConfig> read_service(const toml::table& toml, const Config& config,
                                          std::vector<Fault>& faults) {
  TomlTable table(toml, "[[service]]", faults);
  table.require("address", "address = \"198.51.100.80\", that clients send to");
  table.require("port", "port = 80");
  const auto address = table.address("address");
  const auto port = table.integer("port", {1, net::kL4PortMax});
  const auto protocol = table.choice("protocol", kProtocolNames);
  table.refuse_unknown_keys();
  if (!address || !port) return {};
  const bool has_clients = std::ranges::any_of(
      config.clients.prefixes,
      [&](const net::IpPrefix& prefix) { return prefix.address.is_ipv6() == address->is_ipv6(); });
  if (!has_clients && !config.clients.prefixes.empty())
    table.fault_in("address", "[clients] has no prefix of its family");
  return ServiceConfig{*address, static_cast<uint16_t>(*port),
                       protocol == 1 ? net::IpProtocol::kUdp : net::IpProtocol::kTcp};
}

void read_steps(TomlTable& top, Config& config, std::vector<Fault>& faults) {
  top.require("step", "a [[step]]");
  for (const toml::table* toml : top.tables("step")) {
    TomlTable table(*toml, "[[step]]", faults);
    table.require("seconds", "seconds = 10");
    const auto seconds = read_number(table, "seconds", 1e-3, kSecondsMax);
    const auto rate = read_number(table, "packets_per_second", 1, kRateMax);
    const auto burst = read_number(table, "burst_microseconds", 0, kBurstMicrosecondsMax);
    table.refuse_unknown_keys();
    if (seconds) config.steps.push_back({*seconds, rate, burst.value_or(0)});
  }
}

void read_flood(TomlTable& top, Config& config, std::vector<Fault>& faults) {
  const toml::table* toml = top.table("flood");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[flood]", faults);
  FloodConfig flood;
  flood.kind = static_cast<FloodKind>(table.choice("kind", kFloodNames).value_or(0));
  table.require("packets_per_second", "packets_per_second = 1e6");
  flood.packets_per_second = read_number(table, "packets_per_second", 1, kRateMax).value_or(1);
  flood.from_second = read_number(table, "from", 0, kSecondsMax).value_or(0);
  flood.to_second = read_number(table, "to", 0, kSecondsMax).value_or(config.seconds());
  if (flood.to_second <= flood.from_second)
    table.fault_in("to", "the flood ends before it begins; give a second behind \"from\"");
  table.refuse_unknown_keys();
  config.flood = flood;
}

void read_late(TomlTable& top, LateConfig& late, std::vector<Fault>& faults) {
  const toml::table* toml = top.table("late");
  if (toml == nullptr) return;
  TomlTable table(*toml, "[late]", faults);
  late.microseconds = read_number(table, "microseconds", 1, 1e6).value_or(late.microseconds);
  late.share_max = read_number(table, "share_max", 0, 1).value_or(late.share_max);
  table.refuse_unknown_keys();
}

// Each connection must have a client's address and port of its own.
void check_client_count(const Config& config, TomlTable& top) {
  const double flows = static_cast<double>(config.traffic.stream.windows) *
                       static_cast<double>(config.traffic.stream.profile.flows);
  for (const net::IpPrefix& prefix : config.clients.prefixes) {
    const int host_bits = prefix.address.bit_count() - prefix.prefix_bits;
    if (host_bits >= 31) continue;
    const double room = static_cast<double>(uint64_t{1} << host_bits) * 32'768;
    if (room < flows)
      top.fault(top.line_of_key("clients"),
                fmt::format("[clients] prefixes: {} has room for {:.0f} connections and [traffic] "
                            "has {:.0f}; give a shorter prefix",
                            prefix.format(), room, flows));
  }
}

Config read_everything(TomlTable& top, std::vector<Fault>& faults) {
  Config config;
  config.traffic = read_traffic(top, faults);
  config.clients = read_side(top, "clients", 0, faults);
  config.backends = read_side(top, "backends", 1, faults);
  top.require("service", "a [[service]]");
  for (const toml::table* service : top.tables("service"))
    if (auto read = read_service(*service, config, faults)) config.services.push_back(*read);
  read_steps(top, config, faults);
  read_flood(top, config, faults);
  read_late(top, config.late, faults);
  config.wait_seconds = read_number(top, "wait_seconds", 0, 60).value_or(config.wait_seconds);
  check_client_count(config, top);
  top.refuse_unknown_keys();
  return config;
}

}  // namespace

ConfigOutcome parse_config(std::string_view text) { return config::parse(text, read_everything); }

ConfigOutcome read_config(const std::string& path) { return config::read_file(path, parse_config); }

}  // namespace roost::trafficgen
