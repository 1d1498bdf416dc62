// The forwarding database: what is learned, where it may move, and how much room a port has.
#include "roost/bridge/fdb.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/bridge/stations.h"

namespace roost::bridge {
namespace {

constexpr uint64_t kEntriesMax = 100'000;

TEST(Fdb, learns_a_station_where_it_was_seen_and_in_its_vlan) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  EXPECT_EQ(fdb.write().learn(station(1), 2, Tick{5}), Learned::kNew);
  EXPECT_EQ(fdb.write().learn(station(1), 2, Tick{5}), Learned::kKnown);
  EXPECT_EQ(fdb.write().learn(station(1, 20), 3, Tick{5}), Learned::kNew);
  EXPECT_EQ(port_of(fdb, station(1), Tick{5}), 2);
  EXPECT_EQ(port_of(fdb, station(1, 20), Tick{5}), 3);
  EXPECT_EQ(port_of(fdb, station(1, 30), Tick{5}), std::nullopt);
  EXPECT_EQ(fdb.write().learned_at(2), 1U);
}

TEST(Fdb, one_writes_at_a_time) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.try_write();
  ASSERT_TRUE(writer);
  EXPECT_FALSE(fdb.try_write());
  writer.reset();
  EXPECT_TRUE(fdb.try_write());
}

TEST(Fdb, a_station_moves_five_times_in_ten_seconds_and_then_stays_a_minute) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  ASSERT_EQ(fdb.write().learn(station(1), 0, Tick{100}), Learned::kNew);
  for (uint16_t move = 1; move <= 5; ++move)
    EXPECT_EQ(fdb.write().learn(station(1), move % 2, Tick{100U + move}), Learned::kMoved);
  EXPECT_EQ(fdb.write().learn(station(1), 0, Tick{106}), Learned::kHeld);
  EXPECT_EQ(fdb.write().learn(station(1), 0, Tick{165}), Learned::kHeld);
  EXPECT_EQ(port_of(fdb, station(1), Tick{165}), 1) << "it stays where it was";
  EXPECT_EQ(fdb.write().learn(station(2), 0, Tick{166}), Learned::kNew) << "others are learned";
  EXPECT_EQ(fdb.write().learn(station(1), 0, Tick{168}), Learned::kMoved);
  EXPECT_EQ(fdb.write().learned_at(0), 2U);
  EXPECT_EQ(fdb.write().learned_at(1), 0U);
}

TEST(Fdb, a_station_that_moves_now_and_then_may) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  ASSERT_EQ(fdb.write().learn(station(1), 0, Tick{0}), Learned::kNew);
  for (uint64_t move = 1; move < 100; ++move)
    ASSERT_EQ(fdb.write().learn(station(1), move % 2, Tick{move * 3}), Learned::kMoved) << move;
}

TEST(Fdb, while_too_many_stations_move_others_stay) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  for (uint64_t i = 0; i < 5'000; ++i)
    ASSERT_EQ(writer.learn(station(i), 0, Tick{0}), Learned::kNew);
  for (uint64_t i = 0; i < MoveLimit::kAddressesMax; ++i)
    ASSERT_EQ(writer.learn(station(i), 1, Tick{1}), Learned::kMoved);
  EXPECT_EQ(writer.learn(station(4'999), 1, Tick{1}), Learned::kHeld);
  EXPECT_EQ(writer.moved_lately(), MoveLimit::kAddressesMax);
  EXPECT_EQ(writer.learn(station(4'999), 1, Tick{13}), Learned::kMoved);
}

TEST(Fdb, every_port_can_fill_its_part_whatever_another_one_does) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  uint64_t learned = 0;
  for (uint64_t i = 0; i < 2 * kEntriesMax; ++i)
    learned += writer.learn(station(i), 0, Tick{0}) == Learned::kNew ? 1U : 0U;
  EXPECT_EQ(learned, kEntriesMax / 2 + kEntriesMax / 8)
      << "half of the room, and its part of the rest";
  for (uint16_t port = 1; port < 4; ++port) {
    for (uint64_t i = 0; i < kEntriesMax / 8; ++i) {
      ASSERT_EQ(writer.learn(station(3 * kEntriesMax + port * kEntriesMax + i), port, Tick{0}),
                Learned::kNew);
    }
  }
  EXPECT_EQ(writer.learn(station(8 * kEntriesMax), 3, Tick{0}), Learned::kRefused);
  EXPECT_EQ(writer.size(), kEntriesMax);
  EXPECT_TRUE(writer.erase(station(0)));
  EXPECT_EQ(writer.learn(station(8 * kEntriesMax), 3, Tick{0}), Learned::kNew)
      << "there is room again";
  EXPECT_EQ(writer.table().audit(), std::nullopt);
}

TEST(Fdb, a_bound_of_its_own_is_a_ports_most) {
  Fdb::Config config = fdb_config(kEntriesMax, 2);
  config.learn_max[1] = 3;
  Fdb fdb = Fdb::create(config).value();
  auto writer = fdb.write();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(writer.learn(station(i), 1, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.learn(station(3), 1, Tick{0}), Learned::kRefused);
  EXPECT_EQ(writer.learn(station(3), 0, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.learn(station(3), 1, Tick{0}), Learned::kRefused) << "nor may one move there";
  EXPECT_EQ(port_of(fdb, station(3), Tick{0}), 0);
}

TEST(Fdb, static_entries_neither_age_nor_move) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  ASSERT_EQ(writer.learn(station(1), 0, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.add_static(station(1), 2), std::nullopt);
  EXPECT_EQ(writer.learned_at(0), 0U) << "it takes the place of what was learned";
  EXPECT_EQ(writer.add_static(station(2), FdbValue::kNoPort), std::nullopt);
  EXPECT_EQ(writer.learn(station(1), 0, Tick{1}), Learned::kStatic);
  EXPECT_FALSE(writer.erase_unknown(station(1), Tick{10 * kAgeingTicks}));
  EXPECT_EQ(port_of(fdb, station(1), Tick{10 * kAgeingTicks}), 2);
  EXPECT_EQ(port_of(fdb, station(2), Tick{0}), FdbValue::kNoPort);
  EXPECT_EQ(writer.add_static(station(2), 1), std::nullopt) << "it may be given another port";
  EXPECT_TRUE(writer.erase(station(2)));
  EXPECT_FALSE(writer.erase(station(2)));
}

TEST(Fdb, an_unknown_station_is_learned_anew_wherever_it_is) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  ASSERT_EQ(writer.learn(station(1), 0, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.learn(station(1), 1, Tick{kAgeingTicks}), Learned::kRelearned) << "no move";
  EXPECT_EQ(writer.moved_lately(), 0U);
  EXPECT_EQ(writer.learned_at(0), 0U);
  EXPECT_FALSE(writer.erase_unknown(station(1), Tick{kAgeingTicks + 1}));
  EXPECT_TRUE(writer.erase_unknown(station(1), Tick{2 * kAgeingTicks}));
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_EQ(writer.learned_at(1), 0U);
}

}  // namespace
}  // namespace roost::bridge
