// The switch's configuration: what is wrong is refused with its line and what to do (the comment
// `#!` marks the line), and what may change in a run.
#include "apps/switch/config/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/config/fault_at_mark.h"

namespace roost::switching {
namespace {

// Port 0 has VLAN 10 untagged, port 1 tags of 10 and 20, port 2 says nothing.
const std::string kPorts = R"(
[[port]]
untagged = 10
[[port]]
tagged = [10, 20]
[[port]]
)";

std::string station(const std::string& mac, const std::string& rest) {
  return "[[station]]\nmac = \"" + mac + "\"\n" + rest + "\n";
}

void expect_refused(const std::string& toml, std::string_view part) {
  SCOPED_TRACE(toml);
  const ConfigOutcome outcome = parse_config(toml);
  EXPECT_FALSE(outcome.config.has_value());
  config::expect_fault_at_mark(toml, outcome.faults, part);
}

Config must(const std::string& toml) {
  ConfigOutcome outcome = parse_config(toml);
  for (const config::Fault& fault : outcome.faults) {
    ADD_FAILURE() << toml << fault.line << ": " << fault.text;
  }
  return outcome.config.value_or(Config{});
}

TEST(SwitchConfig, says_what_each_port_does) {
  const Config config = must(R"(
[[port]]
untagged = 10
tagged = [20, 4_094]
learn_max = 0
learn_full = "drop"
broadcast_max = 1_000
multicast_max = 2_000
unknown_unicast_max = 0
mtu = 9_000
[[port]]
learn_full = "forward"
)");
  ASSERT_EQ(config.ports.size(), 2U);
  const PortConfig& port = config.ports[0];
  EXPECT_EQ(port.rules.vlans.untagged, 10);
  EXPECT_EQ(port.rules.vlans.tagged, (std::vector<uint16_t>{20, 4'094}));
  EXPECT_EQ(port.learn_max, 0U);
  EXPECT_TRUE(port.rules.drops_not_learned);
  EXPECT_EQ(port.rules.limits, (bridge::FloodLimits{1'000, 2'000, 0}));
  EXPECT_EQ(port.mtu, 9'000);
  EXPECT_FALSE(config.ports[1].rules.drops_not_learned);
  EXPECT_EQ(config.learn_max(), (std::vector<std::optional<uint64_t>>{0, {}}));
  const auto rules = config.rules();
  EXPECT_TRUE(rules->vlans.untagged_ports(10).has(0));
  EXPECT_TRUE(rules->vlans.ports_of(4'094).has(0));
  EXPECT_FALSE(rules->vlans.untagged_ports(4'094).has(0));
}

TEST(SwitchConfig, says_what_the_switch_does) {
  const Config config = must(R"(
tick_seconds = 0.5
[switch]
entries_max = 131_072
static_max = 2
ageing_seconds = 10
moves_max = 3
moves_seconds = 20
hold_seconds = 30
bpdu = "drop"
workers = 4
hash_seed = 7
)" + kPorts + station("02:00:00:00:01:10", "vlan = 20\nport = 1") +
                             station("02:00:00:00:01:11", "vlan = 10\ndrop = true") +
                             "[mirror]\nto = 2\nports = [0, 1]\nvlans = [20]\n");
  EXPECT_EQ(config.tick_microseconds, 500'000U);
  EXPECT_EQ(config.entries_max, 131'072U);
  EXPECT_EQ(config.static_max, 2U);
  EXPECT_EQ(config.ageing_seconds, 10U);
  EXPECT_EQ(config.moves.moves_max, 3U);
  EXPECT_EQ(config.moves.window_seconds, 20U);
  EXPECT_EQ(config.moves.hold_seconds, 30U);
  EXPECT_TRUE(config.rules()->config.drops_bpdus);
  EXPECT_EQ(config.workers.count, 4U);
  EXPECT_EQ(config.hash_seed, 7U);
  ASSERT_EQ(config.stations.size(), 2U);
  EXPECT_EQ(config.stations[0].port, 1);
  EXPECT_EQ(config.stations[0].key.vlan(), 20);
  EXPECT_EQ(config.stations[0].key.mac().format(), "02:00:00:00:01:10");
  EXPECT_EQ(config.stations[1].port, bridge::FdbValue::kNoPort);
  ASSERT_TRUE(config.mirror.has_value());
  EXPECT_EQ(config.mirror->to, 2);
  EXPECT_EQ(config.mirror->ports, net::PortSet::of(0) | net::PortSet::of(1));
  EXPECT_TRUE(config.mirror->vlans[20]);
  EXPECT_FALSE(config.mirror->vlans[10]);
}

TEST(SwitchConfig, a_port_of_which_nothing_is_said_has_vlan_1_unless_it_is_the_mirrors) {
  const Config config = must(
      "[[port]]\n[[port]]\ntagged = [5]\n[[port]]\n[mirror]\nto = 2\n"
      "vlans = [1]\n");
  EXPECT_EQ(config.ports[0].rules.vlans.untagged, 1);
  EXPECT_EQ(config.ports[1].rules.vlans.untagged, std::nullopt);
  EXPECT_EQ(config.ports[2].rules.vlans.untagged, std::nullopt);
  EXPECT_TRUE(config.rules()->vlans.ports_of(1).has(0));
  EXPECT_EQ(config.rules()->vlans.ports_of(1).count(), 1U);
}

TEST(SwitchConfig, the_rest_has_the_manuals_defaults) {
  const Config config = must("[[port]]\n");
  EXPECT_EQ(config.tick_microseconds, 1'000'000U);
  EXPECT_EQ(config.entries_max, 1'000'000U);
  EXPECT_EQ(config.static_max, 4'096U);
  EXPECT_EQ(config.ageing_seconds, 300U);
  EXPECT_EQ(config.moves.moves_max, 5U);
  EXPECT_EQ(config.moves.window_seconds, 10U);
  EXPECT_EQ(config.moves.hold_seconds, 60U);
  EXPECT_FALSE(config.drops_bpdus);
  EXPECT_FALSE(config.hash_seed || config.workers.count || config.mirror);
  EXPECT_EQ(config.ports[0].rules.limits, bridge::FloodLimits{});
  EXPECT_FALSE(config.ports[0].learn_max || config.ports[0].mtu);
}

TEST(SwitchConfig, has_as_many_ports_as_a_packet_can_leave_by) {
  std::string toml;
  for (int i = 0; i < 64; ++i) toml += "[[port]]\n";
  EXPECT_EQ(must(toml).ports.size(), 64U);
  expect_refused(toml + "[[port]] #!\n", "at most 64");
  expect_refused("tick_seconds = 1 #!\n", "port");
}

TEST(SwitchConfig, what_is_wrong_in_a_port_is_named) {
  for (const std::string vlan : {"0", "4_095", "-1", "\"10\""}) {
    expect_refused("[[port]]\nuntagged = " + vlan + " #!\n", "untagged");
    expect_refused("[[port]]\ntagged = [20, " + vlan + "] #!\n", "1 to 4,094");
  }
  expect_refused("[[port]]\nuntagged = 10\ntagged = [20, 10] #!\n", "VLAN 10 is there twice");
  expect_refused("[[port]]\ntagged = [20, 30, 20] #!\n", "VLAN 20 is there twice");
  expect_refused("[[port]]\ntagged = 20 #!\n", "tagged");
  expect_refused("[[port]]\nlearn_max = -1 #!\n", "learn_max");
  expect_refused("[[port]]\nlearn_full = \"dorp\" #!\n", "forward, drop");
  expect_refused("[[port]]\nbroadcast_max = 4_294_967_296 #!\n", "broadcast_max");
  expect_refused("[[port]]\nmulticast_max = 0.5 #!\n", "multicast_max");
  expect_refused("[[port]]\nunknown_unicast_max = -1 #!\n", "unknown_unicast_max");
  expect_refused("[[port]]\nmtu = 67 #!\n", "mtu");
  expect_refused("[[port]]\naddresses = [] #!\n", "addresses");
}

TEST(SwitchConfig, what_is_wrong_in_the_switch_is_named) {
  for (const std::string line :
       {"entries_max = 131_071", "entries_max = 4_294_967_297", "static_max = -1",
        "ageing_seconds = 9", "moves_max = 0", "moves_seconds = 0", "moves_seconds = 1_024",
        "hold_seconds = 1_024", "bpdu = \"flood\"", "workers = 0", "hash_seed = -1",
        "ageing = 10"}) {
    expect_refused(fmt::format("{}[switch]\n{} #!\n", kPorts, line),
                   line.substr(0, line.find(' ')));
  }
  expect_refused(kPorts + "[swich] #!\n", "swich");
  expect_refused(kPorts + "[[neighbour]] #!\naddress = \"192.0.2.1\"\n", "neighbour");
}

TEST(SwitchConfig, what_is_wrong_in_the_mirror_is_named) {
  const std::string mirror = kPorts + "[mirror]\n";
  expect_refused(mirror + "to = 3 #!\nports = [0]\n", "out of range");
  expect_refused(mirror + "to = 2\nports = [0, 3] #!\n", "0 to 2");
  expect_refused(mirror + "to = 2\nports = [0, 2] #!\n", "cannot mirror itself");
  expect_refused(mirror + "to = 2\nvlans = [4_095] #!\n", "1 to 4,094");
  expect_refused(mirror + "to = 2\nports = [0]\nport = 1 #!\n", "port");
  expect_refused(kPorts + "[mirror] #!\nports = [0]\n", "to = 3");
  expect_refused(kPorts + "[mirror] #!\nto = 2\n", "neither ports nor vlans");
}

TEST(SwitchConfig, what_is_wrong_in_a_station_is_named) {
  for (const std::string mac : {"01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"}) {
    expect_refused(kPorts + station(fmt::format("{}\" #!\nvlan = \"10", mac), "port = 0"),
                   "one station");
  }
  const std::string mac = "02:00:00:00:01:10";
  const auto refused = [&](const std::string& head, const std::string& rest,
                           std::string_view part) {
    expect_refused(kPorts + "[[station]]" + head + "\nmac = \"" + mac + "\"\n" + rest + "\n", part);
  };
  refused("", "vlan = 0 #!\nport = 0", "vlan");
  refused(" #!", "port = 0", "vlan = 10");
  refused("", "vlan = 10\nport = 3 #!", "port");
  refused(" #!", "vlan = 20\nport = 0", "port 0 does not have VLAN 20");
  refused(" #!", "vlan = 30\nport = 0", "no port has VLAN 30");
  refused(" #!", "vlan = 30\ndrop = true", "no port has VLAN 30");
  refused(" #!", "vlan = 10", "no port");
  refused(" #!", "vlan = 10\ndrop = false", "no port");
  refused(" #!", "vlan = 10\nport = 0\ndrop = true", "and drops");
  refused("", "vlan = 10\nport = 0\nports = [1] #!", "ports");
  expect_refused(kPorts + "[[station]] #!\nvlan = 10\nport = 0\n", "mac = ");
}

TEST(SwitchConfig, a_port_that_is_none_is_one_fault) {
  const ConfigOutcome outcome =
      parse_config(kPorts + station("02:00:00:00:01:10", "vlan = 10\nport = 3"));
  EXPECT_EQ(outcome.faults.size(), 1U);
}

TEST(SwitchConfig, a_station_is_given_once_a_vlan) {
  const std::string first = station("02:00:00:00:01:10", "vlan = 10\nport = 0");
  EXPECT_EQ(
      must(kPorts + first + station("02:00:00:00:01:10", "vlan = 20\nport = 1")).stations.size(),
      2U);
  expect_refused(kPorts + first +
                     "[[station]] #!\nmac = \"02:00:00:00:01:10\"\nvlan = 10\n"
                     "drop = true\n",
                 "VLAN 10 is in line 7 already");
}

TEST(SwitchConfig, stations_have_room) {
  const std::string room =
      kPorts + "[switch]\nstatic_max = 1\n" + station("02:00:00:00:01:10", "vlan = 10\nport = 0");
  EXPECT_EQ(must(room).stations.size(), 1U);
  expect_refused(room + "[[station]] #!\nmac = \"02:00:00:00:01:11\"\nvlan = 10\nport = 0\n",
                 "there are 2, and room for 1");
}

TEST(SwitchConfig, what_a_port_is_may_change_in_a_run_and_what_needs_memory_may_not) {
  const Config running = must("[switch]\nhash_seed = 7\nworkers = 1\n" + kPorts);
  EXPECT_TRUE(refused_changes(running, running).empty());
  for (const std::string& toml :
       {std::string("[[port]]\nuntagged = 20\nlearn_max = 5\nlearn_full = \"drop\"\n[[port]]\n"
                    "broadcast_max = 5\n[[port]]\n"),
        kPorts + "[switch]\nbpdu = \"drop\"\n", kPorts + "[mirror]\nto = 2\nports = [0]\n",
        kPorts + station("02:00:00:00:01:10", "vlan = 10\nport = 0"),
        kPorts + "[switch]\nhash_seed = 7\nworkers = 1\n"}) {
    EXPECT_TRUE(refused_changes(running, must(toml)).empty()) << toml;
  }
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"tick_seconds = 2\n" + kPorts, "tick_seconds"},
      {kPorts + "[switch]\nentries_max = 200_000\n", "[switch] entries_max"},
      {kPorts + "[switch]\nstatic_max = 1\n", "[switch] static_max"},
      {kPorts + "[switch]\nageing_seconds = 10\n", "[switch] ageing_seconds"},
      {kPorts + "[switch]\nmoves_max = 1\n", "[switch] moves_max"},
      {kPorts + "[switch]\nmoves_seconds = 1\n", "[switch] moves_seconds"},
      {kPorts + "[switch]\nhold_seconds = 1\n", "[switch] hold_seconds"},
      {kPorts + "[switch]\nhash_seed = 8\n", "[switch] hash_seed"},
      {kPorts + "[switch]\nworkers = 2\n", "[switch] workers"},
      {kPorts + "[switch]\npause_microseconds = 1\n", "[switch] pause_microseconds"},
      {kPorts + "[switch]\nbuffers = 8_192\n", "[switch] buffers"},
      {kPorts + "mtu = 1_400\n", "[[port]] mtu"},
      {kPorts + "[[port]]\n", "the number of [[port]]s"},
      {kPorts + "[control]\nmetrics = \"127.0.0.1:9180\"\n", "[control] metrics"}};
  for (const auto& [toml, what] : refused) {
    const auto faults = refused_changes(running, must(toml));
    ASSERT_EQ(faults.size(), 1U) << toml;
    EXPECT_NE(faults[0].text.find(what), std::string::npos) << faults[0].text;
  }
}

}  // namespace
}  // namespace roost::switching
