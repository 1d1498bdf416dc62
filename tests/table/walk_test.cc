// Walks that are stopped and resumed while the table changes, and buckets in words.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

constexpr uint64_t kEntries = 1'000'000;

TEST(Walk, entries_that_stay_are_visited_exactly_once_while_others_are_erased_and_expire) {
  TimedTable table = make<>(1'200'000);
  for (uint64_t i = 0; i < kEntries; ++i) {
    ASSERT_EQ(table.insert(Key16::of(i), i, i % 5 == 0 ? 3 : 1000), InsertOutcome::kInserted);
  }
  std::vector<uint8_t> visits(kEntries, 0);
  std::vector<bool> is_erased(kEntries, false);
  std::mt19937_64 random(9);
  Cursor cursor;
  uint64_t tick = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = table.scan(cursor, 1 + random() % 500, [&](const Key16& key, uint64_t& value) {
      EXPECT_EQ(key.number, value);
      ++visits[value];
      // The visitor erases the entry it stands on, or any other one.
      const uint64_t victim = random() % 4 == 0 ? value : random() % kEntries;
      if (random() % 2 == 0 && table.erase(Key16::of(victim))) is_erased[victim] = true;
    });
    if (++tick < 10) {
      ASSERT_EQ(table.advance(Tick{tick}), AdvanceOutcome::kAdvanced);
    }
    table.maintain(random() % 100);
  }
  uint64_t stayed = 0;
  for (uint64_t i = 0; i < kEntries; ++i) {
    ASSERT_LE(visits[i], 1U) << i;
    if (is_erased[i] || i % 5 == 0) continue;
    ASSERT_EQ(visits[i], 1U) << i;
    ++stayed;
  }
  EXPECT_GT(stayed, kEntries / 4);
  EXPECT_FALSE(table.scan(cursor, 10, [](const Key16&, uint64_t) { FAIL() << "past the end"; }));
}

TEST(Walk, it_is_complete_while_inserts_move_nothing) {
  TimedTable table = make<>(100'000);
  for (uint64_t i = 0; i < 30'000; ++i)
    ASSERT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
  const uint64_t kicks = table.stats().kicks;
  std::map<uint64_t, unsigned> visits;
  Cursor cursor;
  uint64_t next = 30'000;
  while (table.scan(cursor, 100, [&](const Key16&, uint64_t value) { ++visits[value]; })) {
    for (int i = 0; i < 20; ++i, ++next)
      ASSERT_EQ(table.insert(Key16::of(next), next), InsertOutcome::kInserted);
  }
  ASSERT_EQ(table.stats().kicks, kicks) << "the load is too low to move anything";
  for (uint64_t i = 0; i < 30'000; ++i) ASSERT_EQ(visits[i], 1U) << i;
  for (const auto& [value, count] : visits) ASSERT_EQ(count, 1U) << value;
}

// Time is bounded by the buckets, room by the entries; whichever is used up first.
TEST(Walk, a_step_ends_with_either_budget) {
  TimedTable table = make<>(100'000);
  for (uint64_t i = 0; i < 1'000; ++i) {
    ASSERT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
  }
  const uint64_t slots = table.bucket_count() * TimedTable::kSlots;
  for (const auto& [buckets, entries] : {std::pair<uint64_t, uint64_t>{1, UINT64_MAX},
                                         {1, 1},
                                         {7, 3},
                                         {50, 2},
                                         {UINT64_MAX, 1},
                                         {UINT64_MAX, 999},
                                         {UINT64_MAX, 1'000}}) {
    std::vector<unsigned> visits(1'000, 0);
    Cursor cursor;
    bool goes_on = true;
    while (goes_on) {
      const uint64_t before = cursor.next_slot;
      uint64_t visited = 0;
      goes_on = table.scan(cursor, {buckets, entries}, [&](const Key16&, uint64_t value) {
        ++visits[value];
        ++visited;
      });
      ASSERT_LE(visited, entries);
      ASSERT_LE((cursor.next_slot - before) / TimedTable::kSlots, buckets);
      ASSERT_EQ(goes_on, cursor.next_slot < slots);
    }
    EXPECT_EQ(visits, std::vector<unsigned>(1'000, 1)) << buckets << " buckets, " << entries;
  }
}

TEST(Walk, a_budget_of_no_buckets_visits_nothing_and_stays) {
  TimedTable table = make<>(64);
  ASSERT_EQ(table.insert(Key16::of(1), 1), InsertOutcome::kInserted);
  Cursor cursor;
  EXPECT_TRUE(table.scan(cursor, 0, [](const Key16&, uint64_t) { FAIL(); }));
  EXPECT_EQ(cursor.next_slot, 0U);
}

TEST(Dump, a_bucket_is_told_in_words) {
  ChosenTable table = make<ChosenTable>(64);
  ASSERT_EQ(table.advance(Tick{100}), AdvanceOutcome::kAdvanced);
  // The hash is the first word: bucket 0, tag 0x0fc1.
  for (uint64_t i = 0; i < 9; ++i)
    ASSERT_EQ(table.insert(Key16{0x0FC1, i}, 42 + i, 30), InsertOutcome::kInserted);
  const std::string primary = table.dump(BucketIndex{0});
  EXPECT_NE(primary.find("bucket 0, now 100: 8 of 8 slots busy, 1 moved away, filter "
                         "0x8000000000000002\n"),
            std::string::npos)
      << primary;
  EXPECT_NE(primary.find("  slot 0  tag 0x0fc1  primary, other bucket "), std::string::npos);
  EXPECT_EQ(table.occupancy(), (Occupancy{6, 1, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_NE(primary.find("expires at 130 (in 30)  key c10f0000000000000000000000000000  value "
                         "2a00000000000000\n"),
            std::string::npos)
      << primary;
  ASSERT_EQ(table.advance(Tick{140}), AdvanceOutcome::kAdvanced);
  std::string secondary;
  for (uint64_t bucket = 1; bucket < table.bucket_count(); ++bucket) {
    const std::string text = table.dump(BucketIndex{bucket});
    if (text.find("  slot ") != std::string::npos) secondary = text;
  }
  EXPECT_NE(secondary.find("tag 0x0fc1  from bucket 0  expired 10 ago"), std::string::npos)
      << secondary;
}

}  // namespace
}  // namespace roost
