// A worker's part: what it learns, refreshes and reclaims.
#include "roost/bridge/learner.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/base/step_count.h"
#include "tests/bridge/stations.h"

namespace roost::bridge {
namespace {

TEST(Learner, a_station_is_known_from_its_first_frame_until_it_is_silent) {
  Fdb fdb = Fdb::create(fdb_config(100'000, 2)).value();
  Learner learner(fdb, 0, 1);
  EXPECT_TRUE(frame_from(learner, station(1), 1, Tick{0}));
  EXPECT_EQ(learner.counters().learned, 1U);
  for (uint64_t now = 0; now < 5 * kAgeingTicks; ++now) {
    EXPECT_TRUE(frame_from(learner, station(1), 1, Tick{now}));
    learner.reclaim(Tick{now}, fdb.bucket_count());
    ASSERT_EQ(port_of(fdb, station(1), Tick{now}), 1) << now;
  }
  EXPECT_EQ(learner.counters().learned, 1U);
  EXPECT_EQ(learner.counters().refreshed, 5U * 16 - 1) << "once a sixteenth, but for the first";
  const uint64_t last = 5 * kAgeingTicks - 1;
  EXPECT_EQ(port_of(fdb, station(1), Tick{last + kAgeingTicks}), std::nullopt);
}

TEST(Learner, what_is_unknown_is_gone_by_a_fifth_of_the_ageing_time_later) {
  constexpr uint64_t kStations = 50'000;
  Fdb fdb = Fdb::create(fdb_config(kStations * 2, 2)).value();
  Learner one(fdb, 0, 2);
  Learner other(fdb, 1, 2);
  for (uint64_t i = 0; i < kStations; ++i) ASSERT_TRUE(frame_from(one, station(i), 0, Tick{0}));
  ASSERT_TRUE(fdb.write().add_static(station(kStations), 1));
  const auto turn = [&](uint64_t now) {
    one.reclaim(Tick{now}, 1'000);
    other.reclaim(Tick{now}, 1'000);
  };
  for (uint64_t now = 0; now < kAgeingTicks * 15 / 16; ++now) turn(now);
  EXPECT_EQ(fdb.write().size(), kStations + 1);
  for (uint64_t now = kAgeingTicks * 15 / 16; now < kAgeingTicks * 6 / 5; ++now) turn(now);
  EXPECT_EQ(fdb.write().size(), 1U) << "the static one stays";
  EXPECT_EQ(one.counters().reclaimed + other.counters().reclaimed, kStations);
  EXPECT_GT(one.counters().reclaimed, kStations / 3) << "each has a part of the buckets";
  EXPECT_GT(other.counters().reclaimed, kStations / 3);
  EXPECT_EQ(fdb.write().learned_at(0), 0U);
}

TEST(Learner, what_another_one_writes_meanwhile_waits_for_the_next_frame) {
  Fdb fdb = Fdb::create(fdb_config(100'000, 2)).value();
  Learner learner(fdb, 0, 1);
  {
    const auto writer = fdb.write();
    EXPECT_TRUE(frame_from(learner, station(1), 0, Tick{0})) << "it is not refused";
  }
  EXPECT_EQ(learner.counters().lock_misses, 1U);
  EXPECT_EQ(port_of(fdb, station(1), Tick{0}), std::nullopt);
  EXPECT_TRUE(frame_from(learner, station(1), 0, Tick{0}));
  EXPECT_EQ(port_of(fdb, station(1), Tick{0}), 0);
}

TEST(Learner, what_another_one_writes_meanwhile_is_learned_in_the_next_turns) {
  Fdb fdb = Fdb::create(fdb_config(100'000, 2)).value();
  Learner learner(fdb, 0, 1);
  {
    const auto writer = fdb.write();
    std::vector<FdbKey> keys;
    for (uint64_t i = 0; i < Learner::kSourcesMax; ++i) keys.push_back(station(i));
    frames_from(learner, keys, 0, Tick{0});
    EXPECT_TRUE(frame_from(learner, station(100), 1, Tick{0})) << "more than it remembers";
    learner.reclaim(Tick{0}, 1);
  }
  learner.reclaim(Tick{0}, 1);
  EXPECT_EQ(learner.counters().learned, Learner::kSourcesMax);
  EXPECT_EQ(port_of(fdb, station(7), Tick{0}), 0);
  EXPECT_EQ(port_of(fdb, station(100), Tick{0}), std::nullopt);
  learner.reclaim(Tick{0}, 1);
  EXPECT_EQ(fdb.write().size(), Learner::kSourcesMax);
}

TEST(Learner, frames_of_a_batch_are_told_apart) {
  Fdb::Config config = fdb_config(100'000, 2);
  config.learn_max[0] = 2;
  Fdb fdb = Fdb::create(config).value();
  Learner learner(fdb, 0, 1);
  const std::vector<FdbKey> keys = {station(1), station(1), station(2), station(3), station(1)};
  EXPECT_EQ(frames_from(learner, keys, 0, Tick{0}), 0b01000U);
  EXPECT_EQ(learner.counters().learned, 2U);
  EXPECT_EQ(learner.counters().refused, 1U);
}

TEST(Learner, a_flood_of_sources_makes_no_station_unknown_and_keeps_none_out) {
  constexpr uint64_t kRoom = step_count(1'000'000);
  constexpr uint64_t kKnown = kRoom / 10;
  Fdb fdb = Fdb::create(fdb_config(kRoom, 4)).value();
  Learner learner(fdb, 0, 1);
  for (uint64_t i = 0; i < kKnown; ++i) ASSERT_TRUE(frame_from(learner, station(i), 1, Tick{0}));
  std::mt19937_64 draw(1);
  for (uint64_t frame = 0; frame < step_count(10, 5) * kRoom; frame += Learner::kSourcesMax) {
    std::array<FdbKey, Learner::kSourcesMax> keys;
    for (FdbKey& key : keys) key = FdbKey(kVlan, draw() | 0xFF);
    frames_from(learner, keys, 0, Tick{1});
  }
  for (uint64_t i = 0; i < kKnown; ++i) ASSERT_EQ(port_of(fdb, station(i), Tick{1}), 1) << i;
  for (uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(frame_from(learner, station(kKnown + i), 2, Tick{1}));
    ASSERT_EQ(port_of(fdb, station(kKnown + i), Tick{1}), 2);
  }
  EXPECT_EQ(fdb.write().table().audit(), std::nullopt);
}

}  // namespace
}  // namespace roost::bridge
