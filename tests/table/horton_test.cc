// Horton's rule: a field of the remap array speaks for every key of its remap tag, so it
// cannot change while one of them is away, and is cleared by the last of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

template <class HashPolicy>
struct HortonPolicies : TrapPolicies<HashPolicy> {
  using Probing = HortonProbing;
};
using HortonTable = FlowTable<Key16, uint64_t, HortonPolicies<KeyedHash>>;
using ChosenHorton = FlowTable<Key16, uint64_t, HortonPolicies<FirstWordHash>>;

// Bucket 0 is full of keys that share remap tag 0.
class X34 : public testing::Test {
 protected:
  X34() {
    for (uint64_t i = 0; i < kSlotsPerBucket; ++i)
      EXPECT_EQ(table_.insert(resident(i), i, 1000), InsertOutcome::kInserted);
  }

  Key16 resident(uint64_t i) const { return chosen(table_, 0, 1, 100 + i); }
  // Keys of bucket 0 with different tags and the same remap tag, 5.
  Key16 away(uint64_t i) const {
    return chosen(table_, 0, static_cast<uint16_t>(kTag + i), 200 + i);
  }
  void insert_away(uint64_t i, TickCount timeout = 1000) {
    ASSERT_EQ(table_.insert(away(i), i, timeout), InsertOutcome::kInserted);
    ASSERT_FALSE(table_.audit());
  }
  uint64_t field() { return TableInspector::line(table_, BucketIndex{0}).filter >> 15 & 7; }

  // The bucket that holds a key.
  BucketIndex bucket_of(const Key16& key) {
    const auto* value = reinterpret_cast<const std::byte*>(table_.find(key));
    EXPECT_NE(value, nullptr);
    return TableInspector::engine(table_).layout().slot_of_value(value).bucket;
  }
  std::vector<BucketIndex> secondaries() {
    std::vector<BucketIndex> buckets;
    TableInspector::engine(table_).placement().for_each_secondary(
        BucketIndex{0}, Tag{kTag}, [&](BucketIndex bucket) { buckets.push_back(bucket); });
    return buckets;
  }
  // Inserts keys whose primary bucket is `bucket` and which do not share remap tag 5.
  void load(BucketIndex bucket, uint64_t keys) {
    for (uint64_t i = 0; i < keys; ++i) {
      const Key16 key = chosen(table_, static_cast<uint64_t>(bucket), 0xF000, next_++);
      ASSERT_EQ(table_.insert(key, 0, 1000), InsertOutcome::kInserted);
    }
  }

  static constexpr uint16_t kTag = 5 * 65'536 / 21 + 1;
  uint64_t next_ = 1000;
  std::vector<uint64_t> expired_;
  ChosenHorton table_ = make<ChosenHorton>(8192, {&expired_});
};

TEST_F(X34, a_field_stays_until_its_last_key_has_left) {
  EXPECT_EQ(field(), 0U);
  for (uint64_t i = 0; i < 4; ++i) insert_away(i);
  const uint64_t function = field();
  EXPECT_NE(function, 0U);
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(field(), function);
    for (uint64_t j = i; j < 4; ++j)
      ASSERT_NE(table_.find(away(j)), nullptr) << j << " after " << i << " have left";
    EXPECT_TRUE(table_.erase(away(i)));
    EXPECT_FALSE(table_.audit());
  }
  EXPECT_EQ(TableInspector::line(table_, BucketIndex{0}).filter, 0U);
}

TEST_F(X34, the_keys_of_a_remap_tag_follow_the_first_however_full_its_bucket_is) {
  ASSERT_EQ(secondaries().size(), 7U);
  insert_away(0);
  const BucketIndex secondary = bucket_of(away(0));
  ASSERT_EQ(secondaries(), std::vector{secondary}) << "the choice is made";
  load(secondary, 6);
  insert_away(1);
  EXPECT_EQ(bucket_of(away(1)), secondary) << "though six others are empty";
  insert_away(2);
  EXPECT_EQ(bucket_of(away(2)), BucketIndex{0}) << "an entry with a choice made room";
  EXPECT_EQ(table_.stats().kicks, 1U);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_NE(table_.find(away(i)), nullptr);
}

TEST_F(X34, the_first_key_takes_the_least_loaded_bucket) {
  const std::vector<BucketIndex> choice = secondaries();
  for (unsigned i = 0; i < 7; ++i) load(choice[i], i == 4 ? 2 : 3 + i % 3);
  insert_away(0);
  EXPECT_EQ(bucket_of(away(0)), choice[4]);
}

TEST_F(X34, expired_entries_keep_their_field_until_they_are_swept_or_written_over) {
  insert_away(0, 5);
  insert_away(1, 5);
  const uint64_t function = field();
  table_.advance(Tick{6});
  EXPECT_EQ(field(), function);
  EXPECT_EQ(table_.find(away(0)), nullptr);
  insert_away(0);
  EXPECT_EQ(field(), function) << "its key came back to its old slot";
  EXPECT_EQ(table_.maintain(table_.bucket_count()), 1U);
  EXPECT_EQ(field(), function);
  EXPECT_TRUE(table_.erase(away(0)));
  EXPECT_EQ(field(), 0U);
  EXPECT_FALSE(table_.audit());
  EXPECT_EQ(expired_.size(), 2U);
}

TEST_F(X34, a_key_that_moves_home_clears_the_field) {
  insert_away(0);
  ASSERT_TRUE(table_.erase(resident(3)));
  TableInspector::move(table_, {bucket_of(away(0)), 0}, {BucketIndex{0}, 3});
  EXPECT_EQ(field(), 0U);
  EXPECT_NE(table_.find(away(0)), nullptr);
  EXPECT_FALSE(table_.audit());
}

TEST_F(X34, the_audit_names_a_field_that_leads_elsewhere_as_I5) {
  insert_away(0);
  TableInspector::line(table_, BucketIndex{0}).filter ^= uint64_t{6} << 15;
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 5);
}

TEST_F(X34, the_audit_names_keys_of_one_field_in_two_buckets_as_I5) {
  insert_away(0);
  ASSERT_EQ(field(), 1U);
  TableInspector::line(table_, BucketIndex{0}).filter |= uint64_t{2} << 15;
  // This one follows function 3, and what both need adds up to the field that is there.
  ASSERT_EQ(table_.insert(away(1), 1, 1000), InsertOutcome::kInserted);
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 5);
}

TEST_F(X34, the_audit_names_a_field_cleared_too_early_as_I5) {
  insert_away(0);
  TableInspector::line(table_, BucketIndex{0}).filter = 0;
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 5);
}

TEST_F(X34, the_audit_names_a_field_without_keys_as_I5) {
  insert_away(0);
  TableInspector::line(table_, BucketIndex{0}).filter |= uint64_t{3} << 30;
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 5);
}

TEST_F(X34, the_audit_names_a_slot_with_a_wrong_function_as_I2) {
  insert_away(0);
  TableInspector::line(table_, bucket_of(away(0))).functions[0] ^= 7;
  ASSERT_TRUE(table_.audit());
  EXPECT_EQ(table_.audit()->invariant, 2);
}

// A path whose moves spoiled each other would show here: nearly every insert moves entries.
TEST(Horton, every_insert_into_a_nearly_full_table_keeps_every_invariant) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    HortonTable table = HortonTable::create({.capacity = 512, .hash_seed = seed}).value();
    std::vector<uint64_t> held;
    for (uint64_t i = 0; i < 4000; ++i) {
      if (held.size() > 505) {
        std::swap(held[random() % held.size()], held.back());
        ASSERT_TRUE(table.erase(Key16::of(held.back())));
        held.pop_back();
      }
      const bool is_in = table.insert(Key16::of(i), i) == InsertOutcome::kInserted;
      if (is_in) held.push_back(i);
      const auto violation = table.audit();
      ASSERT_FALSE(violation) << "insert " << i << ": " << violation->what;
      ASSERT_EQ(table.find(Key16::of(i)) != nullptr, is_in);
    }
    for (const uint64_t i : held) ASSERT_EQ(*table.find(Key16::of(i)), i);
    EXPECT_GT(table.stats().kicks, 1000U);
  }
}

}  // namespace
}  // namespace roost
