// What a refused insert costs: a table that is full says so at once, until something leaves it.
//
// Counted in hashes, which repeat exactly: inline tables hash every entry that a search for room
// looks at. The search is the same in all layouts.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

class CountingHash {
 public:
  explicit CountingHash(uint64_t seed) : keyed_(seed) {}
  template <size_t kBytes>
  [[nodiscard]] Hash64 hash(const void* key) const {
    ++made;
    return keyed_.hash<kBytes>(key);
  }
  static inline uint64_t made = 0;

 private:
  TestHash keyed_;
};

struct CountedPolicies : DefaultPolicies {
  using Hash = CountingHash;
  using Expiry = SlotTimers;
};

template <class ValueT>
struct Refusal : testing::Test {
  using Table = FlowTable<ByteKey<13>, ValueT, CountedPolicies>;

  // Inserts one more key; returns how many hashes that took.
  uint64_t hashes_of_an_insert(Table& table, InsertOutcome& outcome, TickCount timeout = 100) {
    const uint64_t before = CountingHash::made;
    outcome = table.insert(ByteKey<13>::of(next_), ValueT::of(next_), timeout);
    ++next_;
    return CountingHash::made - before;
  }
  // Inserts until a key is refused after a long search; returns how many hashes that took.
  uint64_t fill(Table& table) {
    InsertOutcome outcome{};
    uint64_t hashes = 0;
    while (outcome != InsertOutcome::kFull) hashes = hashes_of_an_insert(table, outcome);
    return hashes;
  }

  uint64_t next_ = 0;
};
using BothSizes = testing::Types<Value<16>, Value<4>>;
TYPED_TEST_SUITE(Refusal, BothSizes, );

constexpr uint64_t kLong = 2'000;
constexpr uint64_t kShort = 200;  // 32 buckets of three entries, and those of the stash

TYPED_TEST(Refusal, after_one_searches_are_short_until_an_entry_leaves) {
  for (const bool promises : {false, true}) {
    SCOPED_TRACE(promises ? "with a promise" : "without");
    TableConfig config{.capacity = 12'000, .hash_seed = 1};
    if (promises) config.entries_max = 10'000;
    auto table = TestFixture::Table::create(config).value();
    this->next_ = 0;
    ASSERT_GT(this->fill(table), kLong) << "the first refusal is no guess";
    InsertOutcome outcome{};
    uint64_t refused = 0;
    for (unsigned i = 0; i < 1'000; ++i) {
      ASSERT_LE(this->hashes_of_an_insert(table, outcome), kShort);
      refused += outcome == InsertOutcome::kFull ? 1U : 0U;
    }
    EXPECT_GT(refused, 300U);

    ASSERT_TRUE(table.erase(ByteKey<13>::of(0)));
    EXPECT_GT(this->fill(table), kLong) << "an entry was erased";
    ASSERT_LE(this->hashes_of_an_insert(table, outcome), kShort);
    table.clear();
    EXPECT_GT(this->fill(table), kLong) << "the table was cleared";
    EXPECT_FALSE(table.audit());
  }
}

TYPED_TEST(Refusal, an_expired_entry_that_is_reclaimed_or_written_over_makes_searches_long) {
  for (const bool is_swept : {false, true}) {
    SCOPED_TRACE(is_swept ? "swept" : "written over");
    auto table = TestFixture::Table::create({.capacity = 12'000, .hash_seed = 1}).value();
    this->next_ = 0;
    InsertOutcome outcome{};
    this->hashes_of_an_insert(table, outcome, 5);
    ASSERT_GT(this->fill(table), kLong);
    ASSERT_LE(this->hashes_of_an_insert(table, outcome), kShort);
    ASSERT_EQ(table.advance(Tick{6}), AdvanceOutcome::kAdvanced);
    if (is_swept) {
      ASSERT_EQ(table.maintain(table.bucket_count()), 1U);
    } else {
      ASSERT_EQ(table.insert(ByteKey<13>::of(0), TypeParam::of(0)), InsertOutcome::kInserted);
    }
    EXPECT_GT(this->fill(table), kLong);
  }
}

// Keys of one hash fill their two buckets and the stash, and nothing else.
TYPED_TEST(Refusal, below_the_load_that_is_promised_every_search_is_long) {
  auto table = TestFixture::Table::create({.capacity = 12'000, .hash_seed = kConstantSeed}).value();
  EXPECT_GT(this->fill(table), kLong);
  InsertOutcome outcome{};
  EXPECT_GT(this->hashes_of_an_insert(table, outcome), kLong);
  EXPECT_EQ(outcome, InsertOutcome::kFull);
}

}  // namespace
}  // namespace roost
