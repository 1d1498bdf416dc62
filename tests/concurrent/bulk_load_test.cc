// Several threads fill a table, and it holds what one would have put there.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "roost/concurrent/bulk_load.h"
#include "tests/base/step_count.h"
#include "tests/concurrent/shared_kinds.h"

namespace roost {
namespace {

template <class Kind>
class BulkLoads : public testing::Test {
 protected:
  using Table = typename Kind::Table;

  // Entry i is of key i % key_count, with a code that says which of them it is.
  static uint16_t code(uint64_t i) { return static_cast<uint16_t>(i % 65'521 + 1); }

  static Result<uint64_t> load(Table& table, uint64_t count, uint64_t key_count, unsigned threads) {
    return bulk_load(table, {.count = count, .threads = threads},
                     [key_count](uint64_t first, auto keys, auto values) {
                       for (size_t i = 0; i < keys.size(); ++i) {
                         keys[i] = Kind::key((first + i) % key_count);
                         values[i] = Kind::value(code(first + i));
                       }
                     });
  }

  // The last entry of each key is there.
  static void expect_all(Table& table, uint64_t count, uint64_t key_count) {
    const auto reader = table.reader();
    std::array<decltype(Kind::key(0)), 1> keys;
    std::array<decltype(Kind::value(0)), 1> values{};
    HitArray<1> hits;
    for (uint64_t key = 0; key < key_count; ++key) {
      keys[0] = Kind::key(key);
      ASSERT_EQ(reader.lookup(std::span(std::as_const(keys)), std::span(values), hits), 1U) << key;
      const uint64_t last = key + (count - 1 - key) / key_count * key_count;
      ASSERT_EQ(Kind::code(values[0]), code(last)) << key;
    }
    const auto writer = table.write();
    const auto violation = writer->audit();
    EXPECT_FALSE(violation) << violation->what;
    EXPECT_EQ(writer->size(), key_count);
  }
};
using Kinds = testing::Types<PackedKind<DefaultPolicies>, InlineKind<DefaultPolicies>,
                             SplitKind<DefaultPolicies>>;
TYPED_TEST_SUITE(BulkLoads, Kinds);

TYPED_TEST(BulkLoads, hold_every_entry_up_to_what_the_table_promises) {
  const uint64_t count = step_count(1'000'000, 50);
  for (const unsigned threads : {1U, 2U, 5U}) {
    auto table = TypeParam::Table::create({.entries_max = count}).value();
    const auto refused = this->load(table, count, count, threads);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused.value(), 0U);
    this->expect_all(table, count, count);
  }
}

TYPED_TEST(BulkLoads, give_a_key_its_last_value) {
  const uint64_t key_count = step_count(50'000);
  auto table = TypeParam::Table::create({.entries_max = key_count}).value();
  ASSERT_EQ(this->load(table, 3 * key_count + 7, key_count, 2).value(), 0U);
  this->expect_all(table, 3 * key_count + 7, key_count);
}

TYPED_TEST(BulkLoads, count_what_has_no_room) {
  auto table = TypeParam::Table::create({.capacity = 4'096}).value();
  const uint64_t refused = this->load(table, 10'000, 10'000, 2).value();
  EXPECT_EQ(table.table().size() + refused, 10'000U);
  EXPECT_GT(table.table().size(), 3'000U);
  EXPECT_FALSE(table.write()->audit());
}

TYPED_TEST(BulkLoads, need_an_empty_table) {
  auto table = TypeParam::Table::create({.capacity = 4'096}).value();
  ASSERT_EQ(table.write()->insert(TypeParam::key(1), TypeParam::value(1)),
            InsertOutcome::kInserted);
  const auto refused = this->load(table, 10, 10, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "a bulk load fills an empty table; clear it first, or insert the entries");
  EXPECT_EQ(table.table().size(), 1U);
}

}  // namespace
}  // namespace roost
