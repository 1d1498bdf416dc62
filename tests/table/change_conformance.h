// What every change of a table does, whatever its probing, timers and slots a bucket: insert,
// upsert, erase, clear, expiry, refusal, and what the statistics say of it. Each
// conformance_*_test.cc runs this suite over some variants.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"
#include "tests/table/variants.h"

namespace roost {

template <class VariantT>
class ChangeConformance : public VariantTest<VariantT> {};

TYPED_TEST_SUITE_P(ChangeConformance);

TYPED_TEST_P(ChangeConformance, duplicates_in_a_mutating_batch_act_in_lane_order) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::empty(64);
  const std::vector<Key> keys = {Key::of(1), Key::of(2), Key::of(1), Key::of(1)};
  std::vector<typename TypeParam::Value> values = {10, 20, 30, 40};
  std::vector<InsertOutcome> outcomes(4);
  EXPECT_EQ(table.insert(keys, values, outcomes), 4U);
  EXPECT_EQ(outcomes, (std::vector{InsertOutcome::kInserted, InsertOutcome::kInserted,
                                   InsertOutcome::kUpdated, InsertOutcome::kUpdated}));
  EXPECT_EQ(*table.find(Key::of(1)), 40U);
  HitArray<4> erased;
  EXPECT_EQ(table.erase(keys, erased), 2U);
  EXPECT_TRUE(erased.test(0) && erased.test(1));
  EXPECT_FALSE(erased.test(2) || erased.test(3));
  EXPECT_EQ(table.upsert(keys, values, outcomes), 4U);
  EXPECT_EQ(values, (std::vector<typename TypeParam::Value>{10, 20, 10, 10}))
      << "an upsert returns what the table holds";
  EXPECT_EQ(outcomes[2], InsertOutcome::kExisting);
}

TYPED_TEST_P(ChangeConformance, for_each_visits_every_entry_once_and_clear_leaves_none) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::filled(4096);
  const uint64_t entries = table.size();
  std::vector<unsigned> visits(entries);
  table.for_each([&](const Key& key, typename TypeParam::Value& value) {
    EXPECT_EQ(key, Key::of(value));
    ++visits[value];
  });
  EXPECT_EQ(visits, std::vector<unsigned>(entries, 1));
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.stats().erased, entries);
  EXPECT_FALSE(table.audit());
  table.for_each([](const Key&, auto&) { FAIL(); });
  EXPECT_EQ(table.insert(Key::of(1), 1), InsertOutcome::kInserted);
}

TYPED_TEST_P(ChangeConformance, a_walk_in_steps_may_erase_what_it_visits) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::filled(4096);
  std::vector<unsigned> visits(table.size());
  Cursor cursor;
  bool goes_on = true;
  while (goes_on) {
    goes_on = table.scan(cursor, 3, [&](const Key& key, typename TypeParam::Value& value) {
      ++visits[value];
      if (value % 2 == 0) {
        EXPECT_TRUE(table.erase(Key(key)));
      }
    });
  }
  EXPECT_EQ(visits, std::vector<unsigned>(visits.size(), 1));
  EXPECT_EQ(table.size(), visits.size() / 2);
  EXPECT_FALSE(table.audit());
}

TYPED_TEST_P(ChangeConformance, stats_count_what_happened) {
  const auto table = TestFixture::filled(4096);
  const TableStats stats = table.stats();
  EXPECT_EQ(stats.size, TestFixture::entries_in(4096));
  EXPECT_EQ(stats.capacity, table.capacity());
  EXPECT_DOUBLE_EQ(stats.load,
                   static_cast<double>(stats.size) / static_cast<double>(table.capacity()));
  EXPECT_EQ(std::accumulate(stats.path_lengths.begin(), stats.path_lengths.end(), uint64_t{0}),
            stats.created);
  uint64_t kicks = 0;
  for (unsigned length = 0; length < stats.path_lengths.size(); ++length)
    kicks += length * stats.path_lengths[length];
  if (stats.path_lengths.back() == 0) {
    EXPECT_EQ(kicks, stats.kicks);
  } else {
    EXPECT_LE(kicks, stats.kicks) << "the last field stands for longer paths too";
  }
  EXPECT_GT(kicks, 0U);
  constexpr bool kCounts = TypeParam::kLayout != LayoutChoice::kPacked;
  EXPECT_EQ(
      std::accumulate(stats.moved_histogram.begin(), stats.moved_histogram.end(), uint64_t{0}),
      kCounts ? table.bucket_count() : 0);
  EXPECT_LT(stats.moved_histogram[0], table.bucket_count()) << "some entries are displaced";
}

TYPED_TEST_P(ChangeConformance, capacities_are_any_number_from_two_buckets_up) {
  constexpr uint64_t kPair = uint64_t{2} * TypeParam::kSlots;
  constexpr uint64_t kLeast = std::max(kPair, TypeParam::kCapacityMin);
  using TableType = typename TestFixture::Table;
  for (const uint64_t capacity : {kLeast, kLeast + 1, kLeast + kPair - 1, kLeast + 4099}) {
    const auto table = TableType::create({.capacity = capacity}).value();
    EXPECT_EQ(table.capacity(), (capacity + kPair - 1) / kPair * kPair);
    EXPECT_EQ(table.bucket_count(), table.capacity() / TypeParam::kSlots);
  }
  const auto too_small = TableType::create({.capacity = kLeast - 1});
  ASSERT_FALSE(too_small);
  EXPECT_NE(too_small.error().message.find("set " + std::to_string(kLeast) + " to "),
            std::string::npos)
      << too_small.error().message;
}

TYPED_TEST_P(ChangeConformance, a_promise_is_kept_or_refused) {
  using Key = typename TypeParam::Key;
  using TableType = typename TestFixture::Table;
  auto made = TableType::create({.entries_max = 950, .hash_seed = 3});
  if (!TestFixture::promises()) {
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("cannot promise"), std::string::npos);
    return;
  }
  for (uint64_t i = 0; i < 950; ++i)
    ASSERT_EQ(made.value().insert(Key::of(i), TestFixture::value_of(i)), InsertOutcome::kInserted);
  for (uint64_t i = 0; i < 950; ++i) ASSERT_EQ(*made.value().find(Key::of(i)), i);
  EXPECT_FALSE(made.value().audit());
}

// in every variant; do not depend on it.
TYPED_TEST_P(ChangeConformance, slots_of_expired_entries_are_used_again_and_each_is_reported_once) {
  using Key = typename TypeParam::Key;
  std::vector<uint64_t> expired;
  auto table = TestFixture::empty(4096, isa_best(), {&expired});
  const uint64_t entries = TestFixture::entries_in(4096);
  for (uint64_t i = 0; i < entries; ++i)
    ASSERT_EQ(table.insert(Key::of(i), TestFixture::value_of(i), 5), InsertOutcome::kInserted);
  table.advance(Tick{6});
  if (!TestFixture::kExpires) {
    EXPECT_NE(table.find(Key::of(0)), nullptr) << "without timers nothing expires";
    return;
  }
  // The first half of the keys comes back, the rest are new ones.
  const uint64_t first = entries / 2;
  for (uint64_t i = first; i < first + entries; ++i)
    ASSERT_EQ(table.insert(Key::of(i), TestFixture::value_of(i), 5), InsertOutcome::kInserted);
  EXPECT_FALSE(table.audit());
  table.maintain(table.bucket_count());
  EXPECT_FALSE(table.audit());
  std::sort(expired.begin(), expired.end());
  std::vector<uint64_t> expected(entries);
  std::iota(expected.begin(), expected.end(), uint64_t{0});
  EXPECT_EQ(expired, expected);
  EXPECT_EQ(table.size(), entries);
  for (uint64_t i = 0; i < first; ++i) ASSERT_EQ(table.find(Key::of(i)), nullptr);
  for (uint64_t i = first; i < first + entries; ++i) ASSERT_EQ(*table.find(Key::of(i)), i);
}

TYPED_TEST_P(ChangeConformance, X32_a_refused_insert_leaves_every_byte_of_the_table_as_it_was) {
  using Key = typename TypeParam::Key;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  using TableType = typename TestFixture::Table;
  const uint64_t bytes = TableType::bytes_to_lend({.capacity = 1024}).value();
  std::vector<Line> memory((bytes + sizeof(Line) - 1) / sizeof(Line));
  const std::span<std::byte> lent(memory[0].bytes, memory.size() * sizeof(Line));
  TableType table = TableType::create({.capacity = 1024, .hash_seed = 5, .memory = lent}).value();
  std::vector<Line> before;
  unsigned refusals = 0;
  for (uint64_t i = 0; i < 1200; ++i) {
    before = memory;
    const TableStats stats = table.stats();
    if (table.insert(Key::of(i), TestFixture::value_of(i)) != InsertOutcome::kFull) continue;
    ++refusals;
    constexpr size_t kHeaderLines = sizeof(ImageHeader) / sizeof(Line);  // the refusals are counted
    ASSERT_EQ(std::memcmp(&before[kHeaderLines], &memory[kHeaderLines],
                          lent.size() - sizeof(ImageHeader)),
              0);
    ASSERT_EQ(table.stats().size, stats.size);
    ASSERT_EQ(table.stats().kicks, stats.kicks);
    ASSERT_EQ(table.stats().refusals, refusals);
  }
  EXPECT_GE(refusals, 50U);
  EXPECT_FALSE(table.audit());
}

TYPED_TEST_P(ChangeConformance, keys_of_one_hash_fill_two_buckets_and_leave_no_trace) {
  if (!TypeParam::kHashesCollide) return;
  using Key = typename TypeParam::Key;
  constexpr uint64_t kFit = uint64_t{2} * TypeParam::kSlots;
  using TableType = typename TestFixture::Table;
  TableType table = TableType::create({.capacity = 1024, .hash_seed = kConstantSeed}).value();
  for (unsigned round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < kFit; ++i)
      ASSERT_EQ(table.insert(Key::of(i), TestFixture::value_of(i)), InsertOutcome::kInserted);
    EXPECT_EQ(table.insert(Key::of(kFit), 0), InsertOutcome::kFull);
    for (uint64_t i = 0; i < kFit; ++i) {
      for (uint64_t j = 0; j < kFit; ++j)
        ASSERT_EQ(table.find(Key::of(j)) != nullptr, j >= i) << "after " << i << " erasures";
      ASSERT_FALSE(table.audit());
      ASSERT_TRUE(table.erase(Key::of(i)));
    }
    EXPECT_FALSE(table.audit());
    EXPECT_EQ(table.stats().moved_histogram[0], table.bucket_count());
  }
}

REGISTER_TYPED_TEST_SUITE_P(ChangeConformance, duplicates_in_a_mutating_batch_act_in_lane_order,
                            for_each_visits_every_entry_once_and_clear_leaves_none,
                            a_walk_in_steps_may_erase_what_it_visits, stats_count_what_happened,
                            capacities_are_any_number_from_two_buckets_up,
                            a_promise_is_kept_or_refused,
                            slots_of_expired_entries_are_used_again_and_each_is_reported_once,
                            X32_a_refused_insert_leaves_every_byte_of_the_table_as_it_was,
                            keys_of_one_hash_fill_two_buckets_and_leave_no_trace);

}  // namespace roost
