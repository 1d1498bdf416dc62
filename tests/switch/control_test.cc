// What the commands of a running switch show, of two workers that share its database.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "tests/switch/controlled.h"

namespace roost::switching {
namespace {

const std::string kConfig = R"(
[switch]
entries_max = 131_072
moves_max = 2
[[port]]
untagged = 10
learn_max = 7
[[port]]
untagged = 10
tagged = [20, 30]
[[port]]
tagged = [10, 20]
[[port]]
[[station]]
mac = "02:00:00:00:00:64"
vlan = 20
port = 2
[mirror]
to = 3
vlans = [30]
)";

class SwitchControl : public Controlled {
 protected:
  SwitchControl() : Controlled(kConfig) {}
};

TEST_F(SwitchControl, ports_have_vlans_stations_and_frames) {
  for (uint32_t i = 0; i < 9; ++i) sent(i % 2, {.source = mac_of(i + 1), .in_port = 0});
  sent(0, {.source = mac_of(50), .in_port = 1, .tag = 20});
  sent(1, {mac_of(1), mac_of(51), 1});
  const Json ports = must({{"command", "ports"}})["ports"];
  ASSERT_EQ(ports.size(), 4U);
  EXPECT_EQ(ports[0]["port"], 0);
  EXPECT_EQ(ports[0]["untagged"], 10);
  EXPECT_EQ(ports[0]["tagged"], "");
  EXPECT_EQ(ports[0]["entries"], 7) << "its bound";
  EXPECT_EQ(ports[0]["learn_max"], 7);
  EXPECT_EQ(ports[0]["received"], 9);
  EXPECT_EQ(ports[0]["sent"], 1);
  EXPECT_EQ(ports[1]["tagged"], "20 30");
  EXPECT_EQ(ports[1]["entries"], 2);
  EXPECT_EQ(ports[1]["learn_max"], Json());
  EXPECT_EQ(ports[2]["untagged"], Json());
  EXPECT_EQ(ports[2]["entries"], 0) << "static ones are not its";
  EXPECT_EQ(ports[2]["sent"], 10);
  EXPECT_EQ(ports[3]["untagged"], Json()) << "it mirrors only";
}

TEST_F(SwitchControl, vlans_have_their_ports) {
  EXPECT_EQ(must({{"command", "vlans"}})["vlans"],
            (Json::array({{{"vlan", 10}, {"untagged", "0 1"}, {"tagged", "2"}},
                          {{"vlan", 20}, {"untagged", ""}, {"tagged", "1 2"}},
                          {{"vlan", 30}, {"untagged", ""}, {"tagged", "1"}}})));
}

TEST_F(SwitchControl, moves_are_listed_until_they_are_long_ago) {
  for (const uint16_t port : std::array<uint16_t, 5>{0, 1, 0, 1, 1})
    sent(port, {.source = mac_of(1), .in_port = port});
  sent(0, {.source = mac_of(2), .in_port = 0});
  sent(1, {.source = mac_of(2), .in_port = 1});
  Json moves = must({{"command", "moves"}})["moves"];
  ASSERT_EQ(moves.size(), 2U);
  if (moves[0]["mac"] == mac_of(2)) std::swap(moves[0], moves[1]);
  EXPECT_EQ(moves[0],
            (Json{{"vlan", 10}, {"mac", mac_of(1)}, {"port", 0}, {"moves", 2}, {"held", true}}));
  EXPECT_EQ(moves[1],
            (Json{{"vlan", 10}, {"mac", mac_of(2)}, {"port", 1}, {"moves", 1}, {"held", false}}));
  const Json stats = must({{"command", "stats"}});
  EXPECT_EQ(stats["stations"]["moved"], 3);
  EXPECT_EQ(stats["stations"]["held"], 2);
  EXPECT_EQ(stats["fdb"]["moving"], 2);
  must({{"command", "fdb"}, {"action", "add"}, {"vlan", 10}, {"mac", mac_of(1)}, {"drop", true}});
  now_.count += 11;
  sent(0, {.source = mac_of(3)});
  moves = must({{"command", "moves"}})["moves"];
  ASSERT_EQ(moves.size(), 1U) << "the one that is held";
  EXPECT_EQ(moves[0]["port"], "drop");
  now_.count += 61;
  sent(0, {.source = mac_of(3)});
  EXPECT_EQ(must({{"command", "moves"}})["moves"].size(), 0U);
}

TEST_F(SwitchControl, ages_are_by_the_time_of_the_worker_that_is_ahead) {
  sent(0, {.source = mac_of(1)});
  now_.count += 150;
  sent(1, {.source = mac_of(2)});
  const Json rows = must({{"command", "fdb"}, {"mac", mac_of(1)}})["rows"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GE(rows[0]["age_seconds"], 131.0);
  EXPECT_LE(rows[0]["age_seconds"], 169.0);
}

TEST_F(SwitchControl, a_station_by_hand_is_what_both_workers_go_by) {
  add_by_hand(10, 1, 1);
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, {mac_of(1), mac_of(2)}), "1");
  }
  must({{"command", "fdb"}, {"action", "flush"}, {"kind", "static"}});
  for (size_t worker = 0; worker < kWorkers; ++worker) {
    EXPECT_EQ(sent(worker, {mac_of(1), mac_of(2)}), "1 2");
  }
  EXPECT_EQ(count({{"kind", "static"}}), 0U) << "the configuration's went too";
}

TEST_F(SwitchControl, both_workers_frames_are_in_the_sums) {
  sent(0, {.source = mac_of(1)});
  sent(1, {mac_of(1), mac_of(2), 1});
  sent(0, {"01:00:5e:00:00:01", mac_of(1)});
  sent(1, {mac_of(77), mac_of(2), 1});
  sent(1, {.source = mac_of(3), .in_port = 1, .tag = 30});
  sent(0, {.source = mac_of(3), .in_port = 0, .tag = 30});
  const Json stats = must({{"command", "stats"}});
  EXPECT_EQ(stats["frames"], (Json{{"known_unicast", 1},
                                   {"unknown_unicast", 1},
                                   {"broadcast", 1},
                                   {"multicast", 1},
                                   {"mirrored", 0}}));
  EXPECT_EQ(stats["drops"]["no_other_port"], 1);
  EXPECT_EQ(stats["drops"]["wrong_vlan"], 1);
  EXPECT_EQ(stats["packets"]["received"], 6);
  EXPECT_EQ(stats["workers"][1]["packets"], 3);
}

}  // namespace
}  // namespace roost::switching
