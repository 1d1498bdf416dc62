// The contract of the public type, call by call.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/hash/crc32c_hash.h"
#include "roost/table/flow_table.h"
#include "tests/base/step_count.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

struct CountingPolicies : DefaultPolicies {
  using Probe = LookupCounts;
};
using Table = FlowTable<Key16, uint64_t, CountingPolicies>;

Table filled(uint64_t capacity, uint64_t entries, Isa isa = isa_best()) {
  Table table = Table::create({.capacity = capacity, .hash_seed = 1, .isa = isa}).value();
  for (uint64_t i = 0; i < entries; ++i)
    EXPECT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
  return table;
}

TEST(FlowTable, a_hit_in_the_primary_bucket_touches_no_second_line_and_a_miss_hardly_ever) {
  const Table table = filled(1 << 16, 1 << 15);
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < 65'536; ++i) keys.push_back(Key16::of(i));
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  EXPECT_EQ(table.lookup(keys, HitWords(words)), 1U << 15);
  EXPECT_LT(table.stats().lookups.secondary_visits, 65'536U / 100);
}

TEST(FlowTable, a_random_seed_is_used_unless_one_is_given) {
  const Key16 key = Key16::of(1);
  const auto hash_under = [&](std::optional<uint64_t> seed) {
    const Table table = Table::create({.capacity = 64, .hash_seed = seed}).value();
    Hash64 hash{};
    table.hash_batch(std::span<const Key16>(&key, 1), std::span(&hash, 1));
    return hash.bits;
  };
  EXPECT_EQ(hash_under(5), hash_under(5));
  EXPECT_NE(hash_under({}), hash_under({}));
}

TEST(FlowTable, a_moved_table_keeps_its_entries) {
  Table table = filled(1000, 900);
  Table other = std::move(table);
  for (uint64_t i = 0; i < 900; ++i) ASSERT_EQ(*other.find(Key16::of(i)), i);
  EXPECT_FALSE(other.audit());
}

TEST(FlowTable, lent_memory_may_be_dirty_and_must_be_large_enough) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory(1024, Line{{std::byte{0xFF}, std::byte{0xFF}}});
  const std::span<std::byte> bytes(memory[0].bytes, memory.size() * sizeof(Line));
  Table table = Table::create({.capacity = 512, .memory = bytes}).value();
  EXPECT_EQ(table.page_kind(), PageKind::kBorrowed);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_FALSE(table.audit());
  const auto too_small = Table::create({.capacity = 4096, .memory = bytes});
  ASSERT_FALSE(too_small);
  EXPECT_NE(too_small.error().message.find("are needed; lend more"), std::string::npos);
  EXPECT_FALSE(Table::create({.capacity = 512, .memory = bytes.subspan(1)}));
}

// --- Flooding: the reason why the default hash is keyed. ---

// 100,000 keys with the same CRC32C under every seed: sums of vectors on which the CRC, a linear
// map of 128 bits to 32, is zero.
std::vector<Key16> keys_that_collide_in_crc32c() {
  struct Row {
    uint32_t crc;
    Key16 key;
  };
  std::vector<Row> rows;
  for (unsigned bit = 0; bit < 128; ++bit) {
    const Key16 key = bit < 64 ? Key16{uint64_t{1} << bit, 0} : Key16{0, uint64_t{1} << (bit - 64)};
    rows.push_back({crc32c(crc32c(0, key.number), key.rest), key});
  }
  // Elimination: a row per leading bit; what is left has CRC zero.
  for (unsigned bit = 0; bit < 32; ++bit) {
    const auto pivot = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& row) { return (row.crc >> bit) & 1; });
    if (pivot == rows.end()) continue;
    const Row used = *pivot;
    rows.erase(pivot);
    for (Row& row : rows) {
      if (((row.crc >> bit) & 1) == 0) continue;
      row = {row.crc ^ used.crc, {row.key.number ^ used.key.number, row.key.rest ^ used.key.rest}};
    }
  }
  std::vector<Key16> keys;
  for (uint64_t sum = 0; sum < 100'000; ++sum) {
    Key16 key{0, 0};
    for (unsigned i = 0; i < 17; ++i) {
      if (((sum >> i) & 1) == 0) continue;
      key = {key.number ^ rows[i].key.number, key.rest ^ rows[i].key.rest};
    }
    keys.push_back(key);
  }
  return keys;
}

struct Split : DefaultPolicies {
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
};
struct HashedByCrc32c : Split {
  using Hash = Crc32cHash;
};

TEST(Flooding, keys_that_collide_in_crc32c_under_every_seed_fill_the_default_table_to_90_percent) {
  const std::vector<Key16> keys = keys_that_collide_in_crc32c();
  const uint64_t capacity = keys.size() * 10 / 9;
  auto table = FlowTable<Key16, NoValue, Split>::create({.capacity = capacity}).value();
  std::vector<InsertOutcome> outcomes(keys.size());
  EXPECT_EQ(table.insert(keys, {}, outcomes), keys.size());
  EXPECT_GT(table.stats().load, 0.899);
  EXPECT_FALSE(table.audit());
}

TEST(Flooding, the_same_keys_make_a_crc32c_table_fail_at_once_under_every_seed) {
  const std::vector<Key16> keys = keys_that_collide_in_crc32c();
  constexpr std::array<uint64_t, 4> kSeeds = {0, 1, 0x123456789ABCDEF, ~uint64_t{0}};
  for (const uint64_t seed : std::span(kSeeds).first(step_count(4, 4))) {
    auto table =
        FlowTable<Key16, NoValue, HashedByCrc32c>::create({.capacity = 111'111, .hash_seed = seed})
            .value();
    std::vector<InsertOutcome> outcomes(keys.size());
    EXPECT_EQ(table.insert(keys, {}, outcomes), 16U) << "two buckets of eight slots, and no more";
  }
}

// Batches of one key go another way than larger ones.
TEST(FlowTable, a_batch_of_one_key_is_answered_as_a_larger_one) {
  auto table = FlowTable<Key16, NoValue, HashedByCrc32c>::create({.capacity = 1'000}).value();
  // All of two buckets; the last of them is refused.
  const std::vector<Key16> keys = keys_that_collide_in_crc32c();
  for (size_t i = 0; i < 17; ++i) {
    const std::span one = std::span(keys).subspan(i, 1);
    std::array<InsertOutcome, 1> outcome{};
    EXPECT_EQ(table.insert(one, {}, outcome), i < 16 ? 1U : 0U);
    EXPECT_EQ(outcome[0], i < 16 ? InsertOutcome::kInserted : InsertOutcome::kFull);
  }
  for (size_t i = 17; i-- > 0;) {
    HitArray<1> erased;
    EXPECT_EQ(table.erase(std::span(keys).subspan(i, 1), erased), i < 16 ? 1U : 0U);
    EXPECT_EQ(erased.test(0), i < 16);
  }
  EXPECT_EQ(table.size(), 0U);
}

// Each span that a batch needs an element a lane of, one too short.
TEST(ShortSpans, end_the_process) {
  using Set = FlowTable<Key16, NoValue>;
  struct Timed : DefaultPolicies {
    using Expiry = SlotTimers;
  };
  auto map = FlowTable<Key16, uint64_t, Timed>::create({.capacity = 64}).value();
  auto set = Set::create({.capacity = 64}).value();
  const std::array<Key16, 2> keys = {Key16::of(1), Key16::of(2)};
  const std::span<const Key16> both(keys);
  HitArray<2> hits;
  std::array<uint64_t, 2> values{};
  std::array<uint64_t*, 1> pointer{};
  std::array<NoValue*, 1> member{};
  const std::array<TickCount, 1> timeout = {5};
  const std::span<uint64_t> out(values);
  EXPECT_DEATH(map.lookup(both, out.first(1), hits), "broken invariant");
  EXPECT_DEATH(map.find(both, std::span(pointer), hits), "broken invariant");
  EXPECT_DEATH(set.find(both, std::span(member), hits), "broken invariant");
  EXPECT_DEATH(map.lookup_refresh(both, 5, out.first(1), hits), "broken invariant");
  EXPECT_DEATH(map.lookup_refresh(both, std::span<const TickCount>(timeout), out, hits),
               "broken invariant");
  EXPECT_DEATH(map.lookup_records(both, RecordArray{values.data(), 8}, out.first(1), hits),
               "broken invariant");
  EXPECT_EQ(set.lookup(both, std::span<NoValue>(), hits), 0U) << "a set has nothing to copy";
}

}  // namespace
}  // namespace roost
