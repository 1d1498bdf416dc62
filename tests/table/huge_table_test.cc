// A table of 2^33 slots: keys forced into slots above 2^32, on a reservation that is used sparsely.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tests/table/test_types.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

constexpr uint64_t kCapacity = uint64_t{1} << 33;
constexpr uint64_t kBucketsBelow = (uint64_t{1} << 32) / kSlotsPerBucket;

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

// The hash is the first word; with 2^30 buckets its top 30 bits are the bucket.
Key16 key_in(uint64_t bucket, uint64_t low_bits, uint64_t number) {
  return {(bucket << 34) | (low_bits & ((uint64_t{1} << 34) - 1)), number};
}

class HugeTableTest : public testing::Test {
 protected:
  void SetUp() override {
    const uint64_t before = resident_bytes();
    Result<ChosenTable> made = ChosenTable::create(
        {.capacity = kCapacity, .hash_seed = 1, .pages = PageKind::kSmall}, {&expired_});
    if (!made) {
      std::printf("NOT TESTED: a table of 2^33 slots (%s)\n", made.error().message.c_str());
      GTEST_SKIP();
    }
    EXPECT_LT(resident_bytes() - before, uint64_t{1} << 20) << "create writes no bucket";
    table_.emplace(std::move(made).value());
  }

  std::vector<uint64_t> expired_;
  std::optional<ChosenTable> table_;
};

TEST_F(HugeTableTest, every_operation_reaches_slots_above_2_to_the_32) {
  ChosenTable& table = *table_;
  EXPECT_EQ(table.capacity(), kCapacity);
  EXPECT_EQ(table.bucket_count(), uint64_t{1} << 30);
  EXPECT_GE(table.memory_bytes(), kCapacity * 32);

  constexpr uint64_t kKeys = 20'000;
  std::mt19937_64 random(4);
  std::vector<Key16> keys;
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < kKeys; ++i) {
    // The last buckets among them.
    const uint64_t bucket =
        i < 64 ? (uint64_t{1} << 30) - 1 - i / 8 : kBucketsBelow + random() % kBucketsBelow;
    keys.push_back(key_in(bucket, random(), i));
    values.push_back(i);
  }
  std::vector<InsertOutcome> outcomes(kKeys);
  ASSERT_EQ(table.insert(keys, values, outcomes, 100), kKeys);

  std::vector<uint64_t> out(kKeys);
  HitArray<kKeys> hits;
  EXPECT_EQ(table.lookup(keys, out, hits), kKeys);
  EXPECT_EQ(out, values);
  for (uint64_t& value : out) value = 0;
  EXPECT_EQ(table.upsert(keys, out, outcomes), kKeys);
  EXPECT_EQ(out, values);
  uint64_t* found = table.find(keys[0]);
  ASSERT_NE(found, nullptr);
  table.refresh(found, 500);
  EXPECT_EQ(table.erase(std::span<const Key16>(keys).first(kKeys / 2).subspan(1), hits),
            kKeys / 2 - 1);
  EXPECT_EQ(table.size(), kKeys / 2 + 1);

  // Of the keys in the last buckets, only the first one is left.
  std::set<uint64_t> seen;
  Cursor cursor{kCapacity - 4096};
  EXPECT_FALSE(table.scan(cursor, ~uint64_t{0}, [&](const Key16&, uint64_t value) {
    EXPECT_TRUE(seen.insert(value).second);
  }));
  EXPECT_EQ(seen, std::set<uint64_t>{0});

  ASSERT_EQ(table.advance(Tick{101}), AdvanceOutcome::kAdvanced);
  EXPECT_EQ(table.lookup(keys, out, hits), 1U) << "one was refreshed, the others expired";
  EXPECT_EQ(table.insert(keys[kKeys - 1], 7), InsertOutcome::kInserted);
  EXPECT_EQ(expired_, std::vector<uint64_t>{keys[kKeys - 1].number})
      << "the expired entry was reclaimed";
}

TEST_F(HugeTableTest, entries_are_moved_between_buckets_above_2_to_the_32) {
  ChosenTable& table = *table_;
  // Forty keys of one bucket, whose secondary buckets are spread over the table by their tags; then
  // sixteen of one tag, which fill the pair and push the others out.
  const uint64_t bucket = (uint64_t{1} << 30) - 5;
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < 40; ++i) keys.push_back(key_in(bucket, 1 + i * 257, i));
  for (uint64_t i = 0; i < 15; ++i) keys.push_back(key_in(bucket, 0xFFF0, 100 + i));
  for (const Key16& key : keys)
    ASSERT_EQ(table.insert(key, key.rest), InsertOutcome::kInserted) << key.rest;
  EXPECT_GT(table.stats().kicks, 0U);
  for (const Key16& key : keys) {
    const uint64_t* value = table.find(key);
    ASSERT_NE(value, nullptr) << key.rest;
    ASSERT_EQ(*value, key.rest);
  }
  EXPECT_NE(table.dump(BucketIndex{bucket}).find("8 of 8 slots busy, 47 moved away"),
            std::string::npos)
      << table.dump(BucketIndex{bucket});
  for (const Key16& key : keys) ASSERT_TRUE(table.erase(key));
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace roost
