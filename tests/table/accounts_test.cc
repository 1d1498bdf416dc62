// Sums that must close: entries over ten million churned flows, bytes of memory, capacity.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/base/step_count.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

// Counts and sums what expires, so that one entry too many or too few shows, and a wrong one
// too.
struct Totals {
  uint64_t count = 0;
  uint64_t sum = 0;
  void add(const Key16& key, uint64_t value) {
    ++count;
    sum += key.number * 3 + value;
  }
};
struct SummingCallback {
  Totals* totals = nullptr;
  void operator()(const Key16& key, uint64_t value) { totals->add(key, value); }
};
struct ChurnPolicies : DefaultPolicies {
  using Expiry = SlotTimers;
  using EvictionCallback = SummingCallback;
};

TEST(Accounts, created_is_live_plus_erased_plus_expired_after_ten_million_flows) {
  constexpr uint64_t kFlows = step_count(10'000'000, 5);
  Totals created;
  Totals erased;
  Totals expired;
  auto table = FlowTable<Key16, uint64_t, ChurnPolicies>::create(
                   {.capacity = 1 << 18, .hash_seed = 2}, {&expired})
                   .value();
  std::mt19937_64 random(4);
  uint64_t now = 0;
  uint64_t refused = 0;
  for (uint64_t flow = 0; flow < kFlows; ++flow) {
    if (flow % 300 == 0) {
      ASSERT_EQ(table.advance(Tick{++now}), AdvanceOutcome::kAdvanced);
      table.maintain(8);
    }
    const Key16 key = Key16::of(random() % 2'000'000);
    uint64_t value = flow;
    // Timeouts that keep the table around 90 % full of live entries, and now and then above what it
    // holds.
    const auto timeout = static_cast<TickCount>(random() % 1024);
    switch (table.upsert(key, value, timeout)) {
      case InsertOutcome::kInserted:
        created.add(key, flow);
        break;
      case InsertOutcome::kExisting:
        if (random() % 4 == 0) {
          ASSERT_TRUE(table.erase(key));
          erased.add(key, value);
        }
        break;
      case InsertOutcome::kFull:
        ++refused;
        break;
      case InsertOutcome::kUpdated:
      case InsertOutcome::kWideKey:
        FAIL() << "an upsert never updates, and any bits may be set in these keys";
    }
  }
  ASSERT_FALSE(table.audit());
  table.maintain(table.bucket_count());
  Totals live;
  table.for_each([&](const Key16& key, uint64_t value) { live.add(key, value); });
  EXPECT_EQ(live.count, table.size());
  EXPECT_EQ(created.count, live.count + erased.count + expired.count);
  EXPECT_EQ(created.sum, live.sum + erased.sum + expired.sum);
  const TableStats stats = table.stats();
  EXPECT_EQ(stats.created, created.count);
  EXPECT_EQ(stats.erased, erased.count);
  EXPECT_EQ(stats.expired, expired.count);
  EXPECT_EQ(stats.refusals, refused);
  EXPECT_GT(stats.expired_overwritten, 0U);
  EXPECT_GT(created.count, kFlows / 4);
  table.clear();
  EXPECT_EQ(table.stats().erased, erased.count + live.count);
  EXPECT_EQ(expired.count, stats.expired) << "clear calls no callback";
}

struct TimedPolicies : DefaultPolicies {
  using Expiry = SlotTimers;
};

// What table_inline holds of the inline layout, for the other.
struct SplitPolicies : TimedPolicies {
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
};

// T-19: what a table says it takes is what it takes.
template <class Key, size_t kValueBytes>
void expect_bytes_a_slot(uint64_t bytes_a_slot) {
  auto table =
      FlowTable<Key, Value<kValueBytes>, SplitPolicies>::create({.capacity = 1'000'000}).value();
  EXPECT_EQ(table.capacity(), 1'000'000U);
  EXPECT_GE(table.memory_bytes(), bytes_a_slot * table.capacity());
  EXPECT_LT(table.memory_bytes(), bytes_a_slot * table.capacity() + 64 * 1024);
  EXPECT_GE(table.mapped_bytes() + 64 * 1024, table.memory_bytes());
}

TEST(Memory, a_slot_costs_its_entry_and_eight_bytes_timers_included) {
  expect_bytes_a_slot<Key16, 16>(40);
  expect_bytes_a_slot<Key16, 8>(32);
  expect_bytes_a_slot<Key16, 4>(32);
  expect_bytes_a_slot<Key16, 0>(24);
  expect_bytes_a_slot<Key40, 16>(64);
  expect_bytes_a_slot<Key40, 64>(112);
}

TEST(Memory, what_is_reported_is_what_is_mapped_within_one_percent) {
  auto table = FlowTable<Key16, Value<16>, TimedPolicies>::create({.capacity = 8'000'000}).value();
  const auto reported = static_cast<double>(table.memory_bytes());
  EXPECT_NEAR(reported / static_cast<double>(table.mapped_bytes()), 1.0, 0.01);
}

TEST(Memory, capacities_are_any_number_from_two_buckets_up) {
  using Table = FlowTable<Key16, Value<8>>;
  for (const uint64_t wanted : {16U, 17U, 31U, 100U, 4096U, 5000U, 99'999U, 1'000'003U}) {
    auto table = Table::create({.capacity = wanted, .hash_seed = 1}).value();
    EXPECT_GE(table.capacity(), wanted);
    EXPECT_LT(table.capacity(), wanted + 16);
    EXPECT_EQ(table.capacity(), table.bucket_count() * kSlotsPerBucket);
    uint64_t held = 0;
    while (table.insert(Key16::of(held), Value<8>::of(held)) != InsertOutcome::kFull) ++held;
    EXPECT_EQ(table.size(), held);
    if (wanted >= 4096) {
      EXPECT_GE(table.stats().load, 0.95) << wanted;
    }
    EXPECT_FALSE(table.audit());
    for (uint64_t i = 0; i < held; ++i) ASSERT_NE(table.find(Key16::of(i)), nullptr);
  }
  EXPECT_FALSE(Table::create({.capacity = 15}));
  EXPECT_FALSE(Table::create({.capacity = 0}));
}

TEST(Memory, the_first_refusal_comes_at_95_percent_or_later_whatever_the_seed) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto table =
        FlowTable<Key16, Value<0>, SplitPolicies>::create({.capacity = 4096, .hash_seed = seed})
            .value();
    uint64_t held = 0;
    while (table.insert(Key16::of(held), {}) != InsertOutcome::kFull) ++held;
    ASSERT_GE(table.stats().load, 0.95) << "seed " << seed;
  }
}

}  // namespace
}  // namespace roost
