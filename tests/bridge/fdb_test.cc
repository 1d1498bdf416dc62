// The forwarding database: what is learned, where it may move, and how much room a port has.
#include "roost/bridge/fdb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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
  EXPECT_EQ(writer.moves(Tick{1}).size(), MoveLimit::kAddressesMax);
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

TEST(Fdb, a_station_may_move_when_all_room_is_taken) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 2)).value();
  auto writer = fdb.write();
  uint64_t first_of_1 = 0;
  while (writer.learn(station(first_of_1), 0, Tick{0}) == Learned::kNew) ++first_of_1;
  for (uint64_t i = 0; i < kEntriesMax / 4; ++i)
    ASSERT_EQ(writer.learn(station(first_of_1 + 1 + i), 1, Tick{0}), Learned::kNew);
  ASSERT_EQ(writer.learn(station(3 * kEntriesMax), 1, Tick{0}), Learned::kRefused);
  EXPECT_EQ(writer.learn(station(0), 1, Tick{1}), Learned::kMoved) << "what one loses, one gets";
  EXPECT_EQ(writer.learn(station(1), 1, Tick{1}), Learned::kMoved);
  EXPECT_EQ(writer.learn(station(0), 0, Tick{2}), Learned::kMoved) << "and back";
  EXPECT_EQ(writer.learned_at(0) + writer.learned_at(1), writer.size());
  EXPECT_EQ(writer.learn(station(3 * kEntriesMax), 1, Tick{2}), Learned::kRefused);
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

TEST(Fdb, a_port_without_room_refuses_a_known_station_however_often_and_that_is_no_move) {
  Fdb::Config config = fdb_config(kEntriesMax, 3);
  config.learn_max[1] = 0;
  Fdb fdb = Fdb::create(config).value();
  auto writer = fdb.write();
  ASSERT_EQ(writer.learn(station(0), 0, Tick{0}), Learned::kNew);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(writer.learn(station(0), 1, Tick{0}), Learned::kRefused);
  EXPECT_EQ(writer.moves(Tick{0}).size(), 0U);
  EXPECT_EQ(writer.learn(station(0), 2, Tick{0}), Learned::kMoved);
}

TEST(Fdb, static_entries_neither_age_nor_move) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  ASSERT_EQ(writer.learn(station(1), 0, Tick{0}), Learned::kNew);
  EXPECT_TRUE(writer.add_static(station(1), 2));
  EXPECT_EQ(writer.learned_at(0), 0U) << "it takes the place of what was learned";
  EXPECT_TRUE(writer.add_static(station(2), FdbValue::kNoPort));
  EXPECT_EQ(writer.learn(station(1), 0, Tick{1}), Learned::kStatic);
  EXPECT_FALSE(writer.erase_unknown(station(1), Tick{10 * kAgeingTicks}));
  EXPECT_EQ(port_of(fdb, station(1), Tick{10 * kAgeingTicks}), 2);
  EXPECT_EQ(port_of(fdb, station(2), Tick{0}), FdbValue::kNoPort);
  EXPECT_TRUE(writer.add_static(station(2), 1)) << "it may be given another port";
  EXPECT_TRUE(writer.erase(station(2)));
  EXPECT_FALSE(writer.erase(station(2)));
  EXPECT_EQ(writer.counters().added, 2U);
  EXPECT_EQ(writer.counters().erased, 2U) << "one was replaced, and one erased";
}

TEST(Fdb, static_entries_have_room_of_their_own) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 1)).value();
  auto writer = fdb.write();
  for (uint64_t i = 0; i < kEntriesMax; ++i)
    ASSERT_EQ(writer.learn(station(i), 0, Tick{0}), Learned::kNew);
  for (uint64_t i = 0; i < kStaticMax; ++i) ASSERT_TRUE(writer.add_static(station(i, 20), 0));
  EXPECT_EQ(writer.static_count(), kStaticMax);
  EXPECT_FALSE(writer.add_static(station(kStaticMax, 20), 0));
  EXPECT_FALSE(writer.add_static(station(1), 0)) << "nor in the place of a learned one";
  EXPECT_TRUE(writer.add_static(station(0, 20), FdbValue::kNoPort)) << "what is there may change";
  EXPECT_TRUE(writer.erase(station(3, 20)));
  EXPECT_TRUE(writer.add_static(station(1), 0));
  EXPECT_EQ(writer.learn(station(kEntriesMax), 0, Tick{0}), Learned::kNew)
      << "the learned one gave its room back";
  EXPECT_EQ(writer.learn(station(kEntriesMax + 1), 0, Tick{0}), Learned::kRefused);
}

TEST(Fdb, a_lower_bound_keeps_what_is_learned_and_refuses_more) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 2)).value();
  auto writer = fdb.write();
  for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(writer.learn(station(i), 1, Tick{0}), Learned::kNew);
  writer.set_learn_max({std::nullopt, 3});
  EXPECT_TRUE(writer.has_too_many(1));
  EXPECT_FALSE(writer.has_too_many(0));
  EXPECT_EQ(writer.learn(station(5), 1, Tick{0}), Learned::kRefused);
  EXPECT_TRUE(writer.erase(station(0)));
  EXPECT_TRUE(writer.erase(station(1)));
  EXPECT_FALSE(writer.has_too_many(1));
  EXPECT_EQ(writer.learn(station(5), 1, Tick{0}), Learned::kRefused);
  EXPECT_TRUE(writer.erase(station(2)));
  EXPECT_EQ(writer.learn(station(5), 1, Tick{0}), Learned::kNew);
}

TEST(Fdb, an_import_learns_as_a_frame_would_and_is_counted) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 2)).value();
  auto writer = fdb.write();
  EXPECT_EQ(writer.import(station(1), 1, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.import(station(1), 1, Tick{0}), Learned::kKnown);
  EXPECT_EQ(writer.import(station(1), 0, Tick{0}), Learned::kMoved);
  EXPECT_EQ(writer.import(station(1), 1, Tick{kAgeingTicks}), Learned::kRelearned);
  EXPECT_EQ(writer.counters().added, 2U);
  EXPECT_EQ(writer.counters().erased, 1U);
  EXPECT_FALSE(writer.erase_if(station(1), [](FdbValue value) { return value.port() == 0; }));
  EXPECT_TRUE(writer.erase_if(station(1), [](FdbValue value) { return value.port() == 1; }));
  EXPECT_EQ(writer.counters().added - writer.counters().erased, writer.size());
}

TEST(Fdb, addresses_that_move_are_listed_with_how_often) {
  Fdb::Config config = fdb_config(kEntriesMax, 2);
  config.moves = {.moves_max = 2, .window_seconds = 10, .hold_seconds = 30};
  Fdb fdb = Fdb::create(config).value();
  auto writer = fdb.write();
  for (uint16_t i = 0; i < 5; ++i) static_cast<void>(writer.learn(station(1), i % 2, Tick{1}));
  static_cast<void>(writer.learn(station(2), 0, Tick{1}));
  ASSERT_EQ(writer.learn(station(2), 1, Tick{1}), Learned::kMoved);
  std::vector<std::string> rows;
  writer.moves(Tick{1}).for_each([&](const FdbKey& key, uint32_t moves, bool is_held) {
    rows.push_back((key == station(1) ? "1:" : "2:") + std::to_string(moves) +
                   (is_held ? " held" : ""));
  });
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector<std::string>{"1:2 held", "2:1"}));
  EXPECT_EQ(writer.learn(station(1), 1, Tick{32}), Learned::kMoved) << "after its thirty seconds";
  EXPECT_EQ(writer.moves(Tick{50}).size(), 0U) << "forgotten, though nobody moves";
}

TEST(Fdb, an_unknown_station_is_learned_anew_wherever_it_is) {
  Fdb fdb = Fdb::create(fdb_config(kEntriesMax, 4)).value();
  auto writer = fdb.write();
  ASSERT_EQ(writer.learn(station(1), 0, Tick{0}), Learned::kNew);
  EXPECT_EQ(writer.learn(station(1), 1, Tick{kAgeingTicks}), Learned::kRelearned) << "no move";
  EXPECT_EQ(writer.moves(Tick{kAgeingTicks}).size(), 0U);
  EXPECT_EQ(writer.learned_at(0), 0U);
  EXPECT_FALSE(writer.erase_unknown(station(1), Tick{kAgeingTicks + 1}));
  EXPECT_TRUE(writer.erase_unknown(station(1), Tick{2 * kAgeingTicks}));
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_EQ(writer.learned_at(1), 0U);
}

}  // namespace
}  // namespace roost::bridge
