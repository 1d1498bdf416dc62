// A table created for N entries accepts N: the promise, and the stash that keeps it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/mirrored_flow_table.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

using Table = FlowTable<Key16, uint64_t>;
constexpr uint64_t kSlotsOfAPair = uint64_t{2} * kSlotsPerBucket;

TableConfig promising(uint64_t entries, uint64_t seed) {
  return {.entries_max = entries, .hash_seed = kOneTagSeed + seed, .pages = PageKind::kSmall};
}

// Inserts `count` keys from `first` on; returns how many were refused.
uint64_t fill(Table& table, uint64_t first, uint64_t count) {
  uint64_t refused = 0;
  for (uint64_t i = first; i < first + count; ++i)
    refused += table.insert(Key16::of(i), i) == InsertOutcome::kFull ? 1U : 0U;
  return refused;
}

TEST(Promise, a_table_created_for_n_entries_accepts_n_whatever_the_seed) {
  uint64_t stashed = 0;
  for (const uint64_t entries :
       std::array<uint64_t, 14>{1, 8, 15, 16, 30, 45, 60, 76, 91, 121, 250, 500, 1000, 4000}) {
    const uint64_t seeds = 1 + 600'000 / (entries + 100);
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      Table table = Table::create(promising(entries, seed)).value();
      ASSERT_EQ(table.entries_max(), entries);
      ASSERT_GE(table.capacity(), entries);
      ASSERT_EQ(fill(table, seed << 32, entries), 0U) << entries << " entries, seed " << seed;
      ASSERT_EQ(table.size(), entries);
      stashed += table.stats().stashed;
    }
  }
  // The promise was not kept by luck alone: small tables did need their stash.
  EXPECT_GT(stashed, 0U);
}

TEST(Promise, ten_million_entries_are_accepted_and_found) {
  constexpr uint64_t kEntries = 10'000'000;
  Table table = Table::create({.entries_max = kEntries, .hash_seed = 3}).value();
  EXPECT_EQ(table.capacity(), 10'526'320U) << "ten millions are 95 % of it";
  ASSERT_EQ(fill(table, 0, kEntries), 0U);
  EXPECT_EQ(table.size(), kEntries);
  for (uint64_t i = 0; i < kEntries; i += 997) ASSERT_EQ(*table.find(Key16::of(i)), i);
}

TEST(Promise, it_is_kept_while_entries_come_and_go) {
  constexpr uint64_t kEntries = 121;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Table table = Table::create(promising(kEntries, seed)).value();
    std::mt19937_64 random(seed);
    std::vector<uint64_t> held;
    uint64_t next = 0;
    for (int round = 0; round < 20'000; ++round) {
      if (held.size() == kEntries) {
        std::swap(held[random() % held.size()], held.back());
        ASSERT_TRUE(table.erase(Key16::of(held.back())));
        held.pop_back();
      }
      ASSERT_EQ(table.insert(Key16::of(next), next), InsertOutcome::kInserted) << seed;
      held.push_back(next++);
    }
    ASSERT_FALSE(table.audit());
  }
}

TEST(Promise, creation_says_what_it_can_promise) {
  const auto over = Table::create({.capacity = 1000, .entries_max = 990});
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message,
            "a capacity of 1008 slots can promise to hold 957 entries, not 990; ask for fewer, or "
            "leave the capacity to the table");
  EXPECT_EQ(Table::create({.capacity = 1000, .entries_max = 957}).value().entries_max(), 957U);
  EXPECT_EQ(Table::create({.capacity = 1000}).value().entries_max(), 0U) << "none asked for";
  const auto beyond = Table::create({.entries_max = ~uint64_t{0}});
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("it can promise"), std::string::npos);
  EXPECT_FALSE(Table::create({}));
}

// Keys whose buckets the test chooses: the hash is the first word, so `bucket` is picked by the top
// bits and all keys of one `tag` share the other bucket.
Key16 key_in(const auto& table, uint64_t bucket, uint16_t tag, uint64_t number) {
  const uint64_t hashed = table.capacity() / kSlotsPerBucket;
  const uint64_t first = multiply_wide(~uint64_t{0} / hashed, bucket + 1).low - 0x10000;
  return {(first & ~uint64_t{0xFFFF}) | tag, number};
}

class StashTest : public testing::Test {
 protected:
  InsertOutcome insert(uint64_t number, TickCount timeout = kTimeoutTicksMax) {
    return table_.insert(key_in(table_, 4, 7, number), number, timeout);
  }
  Key16 key(uint64_t number) { return key_in(table_, 4, 7, number); }

  std::vector<uint64_t> expired_;
  ChosenTable table_ =
      ChosenTable::create({.entries_max = 1000, .hash_seed = 1, .pages = PageKind::kSmall},
                          {&expired_})
          .value();
};

TEST_F(StashTest, keys_of_one_bucket_pair_go_to_the_stash_and_every_lookup_finds_them) {
  const uint64_t slots = kSlotsOfAPair + table_.stats().stash_slots;
  ASSERT_EQ(slots, 32U);
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < slots; ++i) {
    ASSERT_EQ(insert(i), InsertOutcome::kInserted) << i;
    keys.push_back(key(i));
    ASSERT_FALSE(table_.audit()) << table_.audit()->what;
  }
  EXPECT_EQ(table_.stats().stashed, 16U);
  EXPECT_EQ(insert(slots), InsertOutcome::kFull);
  EXPECT_EQ(table_.stats().refusals, 1U);
  keys.push_back(key(slots));  // not there
  keys.push_back(key_in(table_, 100, 9, 0));

  std::vector<uint64_t> out(keys.size(), 99);
  HitArray<64> hits;
  EXPECT_EQ(table_.lookup(keys, out, hits), slots);
  for (uint64_t i = 0; i < slots; ++i) ASSERT_EQ(out[i], i);
  EXPECT_FALSE(hits.test(slots));
  EXPECT_FALSE(hits.test(slots + 1));
  const LookupCounts counts = table_.stats().lookups;
  EXPECT_EQ(counts.lookups, slots + 2);
  // The first candidate of most lanes is another key of the same tag; what the stash costs
  // is counted for those that had none. No other lookup searched it.
  EXPECT_EQ(counts.stash_visits, 0U) << "each lane had a candidate with the tag in its two buckets";

  std::set<uint64_t> seen;
  table_.for_each([&](const Key16&, uint64_t value) { seen.insert(value); });
  EXPECT_EQ(seen.size(), slots);
  for (uint64_t i = 0; i < slots; ++i) ASSERT_TRUE(table_.erase(key(i))) << i;
  EXPECT_EQ(table_.stats().stashed, 0U);
  EXPECT_FALSE(table_.audit());
}

TEST_F(StashTest, a_lookup_without_a_candidate_searches_the_stash_only_from_a_marked_line) {
  for (uint64_t i = 0; i < kSlotsOfAPair + 1; ++i) ASSERT_EQ(insert(i), InsertOutcome::kInserted);
  for (uint64_t i = 0; i < kSlotsOfAPair; ++i) ASSERT_TRUE(table_.erase(key(i)));
  ASSERT_EQ(table_.stats().stashed, 1U);
  EXPECT_EQ(*table_.find(key(kSlotsOfAPair)), kSlotsOfAPair);
  EXPECT_EQ(table_.stats().lookups.stash_visits, 1U);
  EXPECT_EQ(table_.find(key_in(table_, 50, 7, 0)), nullptr);
  EXPECT_EQ(table_.stats().lookups.stash_visits, 1U) << "another bucket's line is not marked";
}

TEST_F(StashTest, a_stashed_entry_goes_home_when_its_slot_is_needed) {
  for (uint64_t i = 0; i < 32; ++i) ASSERT_EQ(insert(i), InsertOutcome::kInserted);
  ASSERT_TRUE(table_.erase(key(0)));
  // Another pair of buckets overflows: a stash slot comes free because its entry finds room at
  // home.
  for (uint64_t i = 0; i < kSlotsOfAPair; ++i) {
    ASSERT_EQ(table_.insert(key_in(table_, 40, 11, i), i), InsertOutcome::kInserted);
  }
  EXPECT_EQ(table_.insert(key_in(table_, 40, 11, 16), 16), InsertOutcome::kInserted);
  EXPECT_EQ(table_.stats().stashed, 16U);
  EXPECT_FALSE(table_.audit());
  for (uint64_t i = 1; i < 32; ++i) ASSERT_EQ(*table_.find(key(i)), i);
  EXPECT_EQ(table_.insert(key_in(table_, 40, 11, 17), 17), InsertOutcome::kFull);
}

TEST_F(StashTest, a_stashed_entry_takes_the_place_of_an_expired_one_when_its_slot_is_needed) {
  const auto other = [this](uint64_t i) { return key_in(table_, 40, 11, i); };
  for (uint64_t i = 0; i < 32; ++i)
    ASSERT_EQ(insert(i, i < kSlotsOfAPair ? 5 : 100), InsertOutcome::kInserted);
  for (uint64_t i = 0; i < kSlotsOfAPair; ++i)
    ASSERT_EQ(table_.insert(other(i), i, 100), InsertOutcome::kInserted);
  ASSERT_EQ(table_.insert(other(16), 16, 100), InsertOutcome::kFull);
  // Each of these needs a slot of the stash, whose entry takes the place of an expired one.
  ASSERT_EQ(table_.advance(Tick{6}), AdvanceOutcome::kAdvanced);
  for (uint64_t i = 16; i < 32; ++i)
    ASSERT_EQ(table_.insert(other(i), i, 100), InsertOutcome::kInserted) << i;
  EXPECT_EQ(table_.stats().stashed, 16U);
  EXPECT_FALSE(table_.audit());
  for (uint64_t i = 16; i < 32; ++i) ASSERT_EQ(*table_.find(key(i)), i);
}

TEST_F(StashTest, expired_entries_of_the_stash_are_swept_and_written_over_and_reported_once) {
  for (uint64_t i = 0; i < 32; ++i)
    ASSERT_EQ(insert(i, i < 24 ? 100 : 5), InsertOutcome::kInserted);
  ASSERT_EQ(table_.advance(Tick{6}), AdvanceOutcome::kAdvanced);
  EXPECT_EQ(insert(100), InsertOutcome::kInserted)
      << "an expired stash slot is as good as a free one";
  EXPECT_EQ(expired_.size(), 1U);
  EXPECT_FALSE(table_.audit());
  table_.maintain(table_.bucket_count());
  EXPECT_EQ(expired_.size(), 8U);
  EXPECT_EQ(table_.size(), 25U);
  EXPECT_FALSE(table_.audit());
  table_.clear();
  EXPECT_EQ(table_.stats().stashed, 0U);
  EXPECT_FALSE(table_.audit());
}

TEST_F(StashTest, audit_names_a_wrong_stash_mark_and_a_wrong_home_as_I8) {
  for (uint64_t i = 0; i < 20; ++i) ASSERT_EQ(insert(i), InsertOutcome::kInserted);
  ASSERT_FALSE(table_.audit());
  auto& layout = TableInspector::engine(table_).layout();
  const SlotRef stashed{BucketIndex{table_.bucket_count() - 2}, 0};
  const BucketIndex home = layout.home(stashed);
  for (const BucketIndex bucket : {home, BucketIndex{static_cast<uint64_t>(home) + 1}}) {
    layout.edit(bucket).has_stashed ^= 1;
    ASSERT_TRUE(table_.audit());
    EXPECT_EQ(table_.audit()->invariant, 8);
    layout.edit(bucket).has_stashed ^= 1;
  }
  layout.set_home(stashed, BucketIndex{static_cast<uint64_t>(home) + 2});
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 8);
}

// Every bucket has one partner, so that pairs fill up at different times and the stash is
// in use nearly always.
TEST(Promise, table_and_model_agree_while_the_stash_is_in_use) {
  using Mirrored = MirrorOf<Key16, Value<16>, SlotTimers, FilteredProbing>;
  uint64_t steps_with_stashed = 0;
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto choose = [&random](uint64_t count) { return random() % count; };
    Mirror mirror = Mirrored::make(
        {.entries_max = 240, .hash_seed = kOneTagSeed + seed, .pages = PageKind::kSmall}, 330);
    for (unsigned step = 0; step < 6'000; ++step) {
      const std::optional<std::string_view> wrong = mirror.step(choose);
      ASSERT_FALSE(wrong) << "step " << step << ": " << *wrong;
      steps_with_stashed += mirror.table().stats().stashed != 0 ? 1U : 0U;
      if (step % 50 == 0) {
        const std::optional<std::string_view> difference = mirror.compare_all();
        ASSERT_FALSE(difference) << "step " << step << ": " << *difference;
      }
    }
    const std::optional<std::string_view> unsettled = mirror.settle();
    ASSERT_FALSE(unsettled) << *unsettled;
  }
  EXPECT_GT(steps_with_stashed, 1'000U);
}

}  // namespace
}  // namespace roost
