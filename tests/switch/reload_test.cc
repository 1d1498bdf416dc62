// Another configuration while frames flow: what is known stays as far as the file allows it, and a
// file with anything wrong changes nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/switch/controlled.h"

namespace roost::switching {
namespace {

const std::string kSwitch = R"(
[switch]
entries_max = 131_072
static_max = 4
hash_seed = 7
)";
const std::string kPorts = R"(
[[port]]
untagged = 10
[[port]]
untagged = 10
tagged = [20]
[[port]]
tagged = [10, 20]
)";
// Without VLAN 20.
const std::string kOneVlan = R"(
[[port]]
untagged = 10
[[port]]
untagged = 10
[[port]]
tagged = [10]
)";

std::string station(uint32_t number, const std::string& rest) {
  return "[[station]]\nmac = \"" + mac_of(number) + "\"\n" + rest + "\n";
}
std::string at(uint16_t vlan, uint16_t port) {
  return "vlan = " + std::to_string(vlan) + "\nport = " + std::to_string(port);
}
// The ports, with a line more for the one of this number.
std::string with_line(const std::string& ports, size_t port, const std::string& line) {
  size_t place = 0;
  for (size_t i = 0; i <= port; ++i) place = ports.find("[[port]]\n", place) + 9;
  std::string changed = ports;
  return changed.insert(place, line + "\n");
}

const std::string kStations =
    station(100, at(10, 0)) + station(101, at(20, 1)) + station(102, "vlan = 10\ndrop = true");

class SwitchReload : public Controlled {
 protected:
  SwitchReload() : Controlled(kSwitch + kPorts + kStations) {}

  // 50 stations a VLAN and port that has it, by both workers.
  void learn_all() {
    for (uint32_t i = 0; i < 50; ++i) {
      sent(i % 2, {.source = mac_of(i), .in_port = 0});
      sent(i % 2, {.source = mac_of(1'000 + i), .in_port = 1});
      sent(i % 2, {.source = mac_of(2'000 + i), .in_port = 1, .tag = 20});
      sent(i % 2, {.source = mac_of(3'000 + i), .in_port = 2, .tag = 10});
      sent(i % 2, {.source = mac_of(4'000 + i), .in_port = 2, .tag = 20});
    }
    EXPECT_EQ(count({{"kind", "learned"}}), 250U);
  }
};

TEST_F(SwitchReload, stations_of_a_vlan_that_is_gone_are_flushed_and_others_stay) {
  learn_all();
  const Json told = reloaded(kSwitch + kOneVlan + station(100, at(10, 0)));
  EXPECT_EQ(told, (Json{{"vlans", 1}, {"stations", 1}, {"flushed", 100}}));
  EXPECT_NE(told_.find("1 VLANs, 1 stations; 100 entries flushed"), std::string::npos) << told_;
  EXPECT_EQ(count({{"vlan", 20}}), 0U);
  EXPECT_EQ(count({{"vlan", 10}, {"kind", "learned"}}), 150U);
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, {mac_of(1), mac_of(5), 1, 20}), "wrong_vlan");
    EXPECT_EQ(sent(worker, {mac_of(1), mac_of(1'001), 1}), "0");
  }
}

TEST_F(SwitchReload, stations_at_a_port_that_has_their_vlan_no_longer_are_flushed) {
  learn_all();
  std::string ports = kPorts;
  ports.replace(ports.find("tagged = [10, 20]"), 17, "untagged = 10    ");
  EXPECT_EQ(reloaded(kSwitch + ports + kStations)["flushed"], 50);
  EXPECT_EQ(count({{"vlan", 20}, {"port", 2}}), 0U);
  EXPECT_EQ(count({{"vlan", 20}, {"port", 1}, {"kind", "learned"}}), 50U);
  EXPECT_EQ(count({{"vlan", 10}, {"port", 2}}), 50U) << "untagged is as good";
}

TEST_F(SwitchReload, stations_of_the_old_file_are_gone_and_those_by_hand_stay) {
  add_by_hand(10, 200, 2);
  sent(0, {.source = mac_of(103), .in_port = 0});
  EXPECT_EQ(entry(10, 103), "0 learned");
  // 100 is gone, 101 elsewhere, 103 new in the place of a learned one.
  reloaded(kSwitch + kPorts + station(101, at(20, 2)) + station(102, "vlan = 10\ndrop = true") +
           station(103, at(10, 1)));
  EXPECT_EQ(entry(10, 100), "none");
  EXPECT_EQ(entry(20, 101), "2 static");
  EXPECT_EQ(entry(10, 102), "drop static");
  EXPECT_EQ(entry(10, 103), "1 static");
  EXPECT_EQ(entry(10, 200), "2 static");
  EXPECT_EQ(count({{"kind", "static"}}), 4U);
  reloaded(kSwitch + kPorts);
  EXPECT_EQ(count({{"kind", "static"}}), 1U) << "the one by hand";
}

TEST_F(SwitchReload, static_stations_go_with_their_vlan_and_learned_ones_of_the_same_name_stay) {
  // It is deleted by hand, and learned: the file that has it no longer does not mean this one.
  must({{"command", "fdb"}, {"action", "delete"}, {"vlan", 10}, {"mac", mac_of(100)}});
  add_by_hand(20, 200, 2);
  must({{"command", "fdb"}, {"action", "add"}, {"vlan", 20}, {"mac", mac_of(201)}, {"drop", true}});
  sent(0, {.source = mac_of(100), .in_port = 1});
  EXPECT_EQ(reloaded(kSwitch + kOneVlan)["flushed"], 2);
  EXPECT_EQ(entry(20, 200), "none");
  EXPECT_EQ(entry(20, 201), "none");
  EXPECT_EQ(entry(10, 100), "1 learned");
}

TEST_F(SwitchReload, a_port_with_more_stations_than_it_may_loses_as_many_as_are_too_many) {
  learn_all();
  const auto bounded = [&](const std::string& line) {
    return kSwitch + with_line(kPorts, 1, line) + kStations;
  };
  EXPECT_EQ(reloaded(bounded("learn_max = 30\nlearn_full = \"drop\""))["flushed"], 70);
  EXPECT_EQ(count({{"port", 1}, {"kind", "learned"}}), 30U);
  EXPECT_EQ(count({{"kind", "learned"}}), 180U) << "other ports have theirs";
  EXPECT_EQ(entry(20, 101), "1 static") << "static ones have other room";
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, {.source = mac_of(5'000), .in_port = 1}), "not_learned");
  }
  EXPECT_EQ(reloaded(bounded("learn_max = 31"))["flushed"], 0);
  EXPECT_EQ(sent(0, {.source = mac_of(5'000), .in_port = 1}), "0 2");
  EXPECT_EQ(entry(10, 5'000), "1 learned");
  EXPECT_EQ(sent(0, {.source = mac_of(5'001), .in_port = 1}), "0 2");
  EXPECT_EQ(entry(10, 5'001), "none");
}

TEST_F(SwitchReload, limits_bpdus_and_the_mirror_are_the_files) {
  const FrameSpec bpdu{.destination = "01:80:c2:00:00:00", .source = mac_of(1)};
  EXPECT_EQ(sent(0, bpdu), "1 2");
  reloaded(kSwitch + "bpdu = \"drop\"\n" + with_line(kPorts, 0, "broadcast_max = 2") + kStations +
           "[mirror]\nto = 2\nports = [0]\n");
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, bpdu), "bpdu");
    EXPECT_EQ(sent(worker, {.source = mac_of(1)}), "1 2");
  }
  EXPECT_EQ(sent(0, {.source = mac_of(1)}), "broadcast_storm") << "all workers' frames count";
  sent(1, {.source = mac_of(1'000), .in_port = 1});
  EXPECT_EQ(sent(1, {mac_of(1'000), mac_of(1)}), "1 2") << "port 2 mirrors";
  reloaded(kSwitch + kPorts);
  EXPECT_EQ(sent(1, {mac_of(1'000), mac_of(1)}), "1");
  EXPECT_EQ(sent(0, bpdu), "1 2");
}

// What frames meet, and what the commands show.
TEST_F(SwitchReload, a_file_with_anything_wrong_changes_nothing) {
  learn_all();
  add_by_hand(10, 200, 2);
  const auto shown = [this] {
    return must({{"command", "vlans"}}).dump() +
           must({{"command", "fdb"}, {"action", "count"}}).dump();
  };
  const std::string before = shown();
  const std::string one_vlan = kSwitch + kOneVlan + "learn_max = 1\n";
  const std::vector<std::pair<std::string, std::string>> refused = {
      {one_vlan + "vlan = 10\n", "vlan"},
      {one_vlan + "[mirror\n", ".toml:"},
      {one_vlan + station(101, at(20, 1)), "no port has VLAN 20"},
      {one_vlan + "[[port]]\n", "the number of [[port]]s cannot change"},
      {"tick_seconds = 2\n" + one_vlan, "tick_seconds cannot change"},
      {one_vlan + station(1, at(10, 0)) + station(2, at(10, 0)) + station(3, at(10, 0)) +
           station(4, at(10, 0)),
       "there would be 5 static entries, and there is room for 4"}};
  for (const auto& [toml, part] : refused) {
    const std::string told = refused_reload(toml);
    EXPECT_NE(told.find(part), std::string::npos) << part << ": " << told;
    EXPECT_EQ(shown(), before) << part;
  }
  std::remove(config_path().c_str());
  EXPECT_NE(refusal({{"command", "reload"}}).find(config_path()), std::string::npos);
  EXPECT_EQ(shown(), before);
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, {mac_of(4'001), mac_of(2'001), 1, 20}), "2");
  }
  const Json reloads = must({{"command", "stats"}})["reloads"];
  EXPECT_EQ(reloads, (Json{{"taken", 0}, {"refused", refused.size() + 1}}));
}

TEST_F(SwitchReload, static_stations_of_before_make_room_and_those_by_hand_do_not) {
  add_by_hand(10, 200, 2);
  const Json one_more = {
      {"command", "fdb"}, {"action", "add"}, {"vlan", 10}, {"mac", mac_of(201)}, {"port", 0}};
  EXPECT_NE(refusal(one_more).find("room for 4"), std::string::npos);
  const std::string three = station(1, at(10, 0)) + station(2, at(10, 0)) + station(3, at(10, 0));
  reloaded(kSwitch + kPorts + three);
  EXPECT_EQ(count({{"kind", "static"}}), 4U);
  // One that is there by hand already needs no room.
  reloaded(kSwitch + kPorts + three + station(200, at(10, 0)));
  EXPECT_EQ(count({{"kind", "static"}}), 4U);
  EXPECT_EQ(entry(10, 200), "0 static");
  reloaded(kSwitch + kPorts + three);
  EXPECT_EQ(entry(10, 200), "none") << "it was the file's then";
  must(one_more);
}

}  // namespace
}  // namespace roost::switching
