// What a lookup touches, by address: a trace of it agrees with where the table's bytes are, and
// with the counts.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

template <LayoutChoice kChoice>
struct Traced : DefaultPolicies {
  using Probe = TouchTrace;
  static constexpr LayoutChoice kLayout = kChoice;
};
struct Counted : DefaultPolicies {
  using Probe = LookupCounts;
};

constexpr uint64_t kEntries = 100'000;

using Kinds = std::map<TouchKind, uint64_t>;

// A table at 95 % of what it promises, and what looking its keys up, and as many others, touches.
template <class Table, class Key>
Kinds kinds_of_touches(Table& table, uint64_t first, uint64_t count, std::vector<Touch>& room) {
  table.core().probe() = TouchTrace(room);
  HitArray<64> hits;
  for (uint64_t i = first; i < first + count; i += 50) {
    std::vector<Key> keys;
    for (uint64_t k = i; k < i + 50; ++k) keys.push_back(Key::of(k));
    table.lookup(std::span<const Key>(keys), hits);
  }
  Kinds kinds;
  for (const Touch& touch : table.core().probe().touches()) ++kinds[touch.kind];
  return kinds;
}

TEST(TouchTrace, a_hit_touches_its_line_and_its_entry_and_a_displaced_one_a_second_line) {
  using Table = FlowTable<Key16, uint64_t, Traced<LayoutChoice::kSplit>>;
  Table table = Table::create({.entries_max = kEntries, .hash_seed = 3}).value();
  for (uint64_t i = 0; i < kEntries; ++i)
    ASSERT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
  std::vector<Touch> room(4 * kEntries);
  const Kinds kinds = kinds_of_touches<Table, Key16>(table, 0, kEntries, room);
  uint64_t displaced = 0;
  auto& layout = table.core().engine().layout();
  for (uint64_t bucket = 0; bucket < table.bucket_count(); ++bucket)
    displaced += displaced_slots(layout.line(BucketIndex{bucket})).count();
  EXPECT_EQ(kinds.at(TouchKind::kPrimaryLine), kEntries);
  // A filter or tag that errs touches one more; neither does often.
  EXPECT_GE(kinds.at(TouchKind::kSecondaryLine), displaced);
  EXPECT_LT(kinds.at(TouchKind::kSecondaryLine), displaced + kEntries / 1000);
  EXPECT_GE(kinds.at(TouchKind::kEntry), kEntries);
  EXPECT_LT(kinds.at(TouchKind::kEntry), kEntries + kEntries / 1000);

  // Lines are those of the keys' buckets, entries those that hold the keys, in one batch's order.
  table.core().probe() = TouchTrace(room);
  HitArray<1> hits;
  const Key16 key = Key16::of(7);
  table.lookup(std::span<const Key16>(&key, 1), hits);
  const auto touches = table.core().probe().touches();
  std::array<Hash64, 1> hash;
  table.hash_batch(std::span<const Key16>(&key, 1), hash);
  EXPECT_EQ(touches.front().address, &layout.line(table.core().engine().map().primary(hash[0])));
  EXPECT_EQ(touches.front().bytes, 64U);
  EXPECT_EQ(static_cast<const std::byte*>(touches.back().address) + sizeof(Key16),
            reinterpret_cast<const std::byte*>(table.find(key)));
  EXPECT_EQ(touches.back().bytes, 24U);
}

TEST(TouchTrace, an_inline_hit_touches_lines_only) {
  using Key = ByteKey<13>;
  using Table = FlowTable<Key, Value<16>, Traced<LayoutChoice::kInline>>;
  Table table = Table::create({.entries_max = kEntries, .hash_seed = 3}).value();
  for (uint64_t i = 0; i < kEntries; ++i)
    ASSERT_EQ(table.insert(Key::of(i), Value<16>{}), InsertOutcome::kInserted);
  std::vector<Touch> room(4 * kEntries);
  const Kinds kinds = kinds_of_touches<Table, Key>(table, 0, kEntries, room);
  EXPECT_EQ(kinds.at(TouchKind::kPrimaryLine), kEntries);
  EXPECT_FALSE(kinds.contains(TouchKind::kEntry));
}

TEST(TouchTrace, agrees_with_the_counts_on_hits_and_misses_and_in_the_stash) {
  using TracedTable = FlowTable<Key16, uint64_t, Traced<LayoutChoice::kSplit>>;
  using CountedTable = FlowTable<Key16, uint64_t, Counted>;
  // So small that some entries are in the stash, under some seed.
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const TableConfig config = {.entries_max = 30, .hash_seed = seed};
    TracedTable traced = TracedTable::create(config).value();
    CountedTable counted = CountedTable::create(config).value();
    for (uint64_t i = 0; i < 30; ++i) {
      ASSERT_EQ(traced.insert(Key16::of(i), i), InsertOutcome::kInserted);
      ASSERT_EQ(counted.insert(Key16::of(i), i), InsertOutcome::kInserted);
    }
    std::vector<Touch> room(1000);
    Kinds kinds = kinds_of_touches<TracedTable, Key16>(traced, 0, 50, room);
    std::vector<Key16> keys;
    for (uint64_t i = 0; i < 50; ++i) keys.push_back(Key16::of(i));
    HitArray<64> hits;
    counted.lookup(std::span<const Key16>(keys), hits);
    const LookupCounts counts = counted.stats().lookups;
    ASSERT_EQ(kinds[TouchKind::kPrimaryLine], counts.lookups);
    ASSERT_EQ(kinds[TouchKind::kSecondaryLine], counts.secondary_visits);
    ASSERT_EQ(kinds[TouchKind::kStashLine], 2 * counts.stash_visits);
    ASSERT_EQ(kinds[TouchKind::kEntry], counts.hits + counts.tag_false_positives);
  }
}

TEST(TouchTrace, counts_what_it_has_no_room_for) {
  using Table = FlowTable<Key16, uint64_t, Traced<LayoutChoice::kSplit>>;
  Table table = Table::create({.capacity = 1000}).value();
  HitArray<64> hits;
  const std::array<Key16, 50> keys{};
  table.lookup(std::span<const Key16>(keys), hits);
  EXPECT_EQ(table.core().probe().lost_count(), 50U);
  std::array<Touch, 20> room;
  table.core().probe() = TouchTrace(room);
  table.lookup(std::span<const Key16>(keys), hits);
  EXPECT_EQ(table.core().probe().touches().size(), 20U);
  EXPECT_EQ(table.core().probe().lost_count(), 30U);
}

}  // namespace
}  // namespace roost
