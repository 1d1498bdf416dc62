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
#include "tests/table/test_types.h"

namespace roost {
namespace {

struct CountingPolicies : DefaultPolicies {
  using Counts = LookupCounts;
};
using Table = FlowTable<Key16, uint64_t, CountingPolicies>;

constexpr uint64_t kUntouched = 0xDEAD;

Table filled(uint64_t capacity, uint64_t entries, Isa isa = isa_best()) {
  Table table = Table::create({.capacity = capacity, .hash_seed = 1, .isa = isa}).value();
  for (uint64_t i = 0; i < entries; ++i)
    EXPECT_EQ(table.insert(Key16::of(i), i), InsertOutcome::kInserted);
  return table;
}

TEST(FlowTable, lookup_of_any_batch_size_sets_hit_bits_and_leaves_missing_lanes_untouched) {
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    const Table table = filled(1 << 16, 60'000, isa);
    for (size_t batch = 0; batch <= 200; ++batch) {
      std::vector<Key16> keys;
      for (size_t lane = 0; lane < batch; ++lane)
        keys.push_back(Key16::of(lane % 3 == 0 ? 1'000'000 + lane : lane * 37));
      std::vector<uint64_t> out(batch, kUntouched);
      std::vector<uint64_t> words(hit_word_count(batch) + 1, ~uint64_t{0});
      const size_t count = table.lookup(keys, out, HitWords(words));
      size_t hits = 0;
      for (size_t lane = 0; lane < batch; ++lane) {
        const bool is_there = lane % 3 != 0;
        hits += is_there ? 1U : 0U;
        ASSERT_EQ(HitWords(words).test(lane), is_there) << batch << " lane " << lane;
        ASSERT_EQ(out[lane], is_there ? lane * 37 : kUntouched);
      }
      ASSERT_EQ(count, hits);
      ASSERT_EQ(words.back(), ~uint64_t{0}) << "words past the batch are not written";
      if (batch % 64 != 0) {
        ASSERT_EQ(words[batch / 64] >> (batch % 64), 0U) << "bits past the batch are zero";
      }
    }
    EXPECT_EQ(table.stats().lookups.last_kernel, isa);
  }
}

TEST(FlowTable, all_hit_and_all_miss_batches_with_duplicates) {
  const Table table = filled(4096, 3900);
  std::vector<Key16> keys(33, Key16::of(17));
  std::vector<uint64_t> out(33, kUntouched);
  HitArray<33> hits;
  EXPECT_EQ(table.lookup(keys, out, hits), 33U);
  EXPECT_EQ(out, std::vector<uint64_t>(33, 17));
  keys.assign(33, Key16::of(1 << 30));
  out.assign(33, kUntouched);
  EXPECT_EQ(table.lookup(keys, out, hits), 0U);
  EXPECT_EQ(out, std::vector<uint64_t>(33, kUntouched));
}

TEST(FlowTable, duplicates_in_a_mutating_batch_act_in_lane_order) {
  Table table = filled(64, 0);
  const std::vector<Key16> keys = {Key16::of(1), Key16::of(2), Key16::of(1), Key16::of(1)};
  std::vector<uint64_t> values = {10, 20, 30, 40};
  std::vector<InsertOutcome> outcomes(4);
  EXPECT_EQ(table.insert(keys, values, outcomes), 4U);
  EXPECT_EQ(outcomes, (std::vector{InsertOutcome::kInserted, InsertOutcome::kInserted,
                                   InsertOutcome::kUpdated, InsertOutcome::kUpdated}));
  EXPECT_EQ(*table.find(Key16::of(1)), 40U);
  HitArray<4> erased;
  EXPECT_EQ(table.erase(keys, erased), 2U);
  EXPECT_TRUE(erased.test(0) && erased.test(1));
  EXPECT_FALSE(erased.test(2) || erased.test(3));
  EXPECT_EQ(table.upsert(keys, values, outcomes), 4U);
  EXPECT_EQ(values, (std::vector<uint64_t>{10, 20, 10, 10}))
      << "an upsert returns what the table holds";
  EXPECT_EQ(outcomes[2], InsertOutcome::kExisting);
}

TEST(FlowTable, every_form_of_lookup_gives_the_same_answers) {
  Table table = filled(4096, 3950);
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < 100; ++i) keys.push_back(Key16::of(i * 79));
  std::vector<const Key16*> pointers;
  for (const Key16& key : keys) pointers.push_back(&key);
  std::vector<Hash64> hashes(100);
  table.hash_batch(keys, hashes);
  std::vector<uint64_t> expected(100, kUntouched);
  HitArray<100> hits;
  const size_t count = table.lookup(keys, expected, hits);
  ASSERT_GT(count, 40U);
  const auto expect_same = [&](auto&& lookup) {
    std::vector<uint64_t> out(100, kUntouched);
    HitArray<100> other_hits;
    EXPECT_EQ(lookup(std::span<uint64_t>(out), HitWords(other_hits)), count);
    EXPECT_EQ(out, expected);
    for (size_t lane = 0; lane < 100; ++lane) EXPECT_EQ(hits.test(lane), other_hits.test(lane));
  };
  const std::span<const Key16> span(keys);
  const std::span<const Key16* const> pointed(pointers);
  const std::span<const Hash64> given(hashes);
  expect_same([&](auto out, auto bits) { return table.lookup(pointed, out, bits); });
  expect_same([&](auto out, auto bits) {
    return table.lookup(HashedKeys{span, given}, out, bits);
  });
  expect_same([&](auto out, auto bits) {
    return table.lookup(HashedKeys{pointed, given}, out, bits);
  });
  expect_same([&](auto out, auto bits) { return table.lookup(table.start(span), out, bits); });
  expect_same([&](auto out, auto bits) {
    return table.lookup(table.start(HashedKeys{pointed, given}), out, bits);
  });
  expect_same([&](auto out, auto bits) {
    return table.lookup_refresh(table.start(pointed), 5, out, bits);
  });
  expect_same([&](auto out, auto bits) {
    auto flight = table.start(std::span<const Key16>());
    table.lookup_and_start(flight, {}, bits, span);
    return table.lookup(flight, out, bits);
  });
  std::vector<uint64_t*> found(100, nullptr);
  EXPECT_EQ(table.find(table.start(span), found, hits), count);
  for (size_t lane = 0; lane < 100; ++lane)
    EXPECT_EQ(found[lane] ? *found[lane] : kUntouched, expected[lane]);
  HitArray<100> only_bits;
  EXPECT_EQ(table.lookup(span, only_bits), count);
}

TEST(FlowTable, find_points_into_the_table) {
  Table table = filled(64, 10);
  *table.find(Key16::of(3)) = 333;
  EXPECT_EQ(*table.find(Key16::of(3)), 333U);
  EXPECT_EQ(table.find(Key16::of(77)), nullptr);
}

TEST(FlowTable, a_set_holds_keys_without_values) {
  auto set = FlowTable<Key40, NoValue>::create({.capacity = 1000}).value();
  std::vector<Key40> keys;
  for (uint64_t i = 0; i < 900; ++i) keys.push_back(Key40::of(i));
  std::vector<InsertOutcome> outcomes(900);
  EXPECT_EQ(set.insert(keys, {}, outcomes), 900U);
  keys.push_back(Key40::of(5000));
  HitArray<901> hits;
  EXPECT_EQ(set.lookup(keys, hits), 900U);
  EXPECT_FALSE(hits.test(900));
}

TEST(FlowTable, for_each_visits_every_entry_once_and_clear_leaves_none) {
  Table table = filled(4096, 3900);
  std::vector<unsigned> visits(3900);
  table.for_each([&](const Key16& key, uint64_t& value) {
    EXPECT_EQ(key.number, value);
    ++visits[value];
  });
  EXPECT_EQ(visits, std::vector<unsigned>(3900, 1));
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.stats().erased, 3900U);
  EXPECT_FALSE(table.audit());
  table.for_each([](const Key16&, uint64_t&) { FAIL(); });
  EXPECT_EQ(table.insert(Key16::of(1), 1), InsertOutcome::kInserted);
}

TEST(FlowTable, stats_count_what_happened) {
  Table table = filled(4096, 4000);
  const TableStats stats = table.stats();
  EXPECT_EQ(stats.size, 4000U);
  EXPECT_DOUBLE_EQ(stats.load, 4000.0 / 4096.0);
  EXPECT_EQ(std::accumulate(stats.path_lengths.begin(), stats.path_lengths.end(), uint64_t{0}),
            stats.created);
  uint64_t kicks = 0;
  for (unsigned length = 0; length < stats.path_lengths.size(); ++length)
    kicks += length * stats.path_lengths[length];
  EXPECT_EQ(kicks, stats.kicks);
  EXPECT_GT(kicks, 0U);
  EXPECT_EQ(
      std::accumulate(stats.moved_histogram.begin(), stats.moved_histogram.end(), uint64_t{0}),
      table.bucket_count());
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

template <class HashPolicy>
struct HashedBy : DefaultPolicies {
  using Hash = HashPolicy;
};

TEST(Flooding, keys_that_collide_in_crc32c_under_every_seed_fill_the_default_table_to_90_percent) {
  const std::vector<Key16> keys = keys_that_collide_in_crc32c();
  const uint64_t capacity = keys.size() * 10 / 9;
  auto table = FlowTable<Key16, NoValue>::create({.capacity = capacity}).value();
  std::vector<InsertOutcome> outcomes(keys.size());
  EXPECT_EQ(table.insert(keys, {}, outcomes), keys.size());
  EXPECT_GT(table.stats().load, 0.899);
  EXPECT_FALSE(table.audit());
}

TEST(Flooding, the_same_keys_make_a_crc32c_table_fail_at_once_under_every_seed) {
  const std::vector<Key16> keys = keys_that_collide_in_crc32c();
  for (const uint64_t seed :
       {uint64_t{0}, uint64_t{1}, uint64_t{0x123456789ABCDEF}, ~uint64_t{0}}) {
    auto table = FlowTable<Key16, NoValue, HashedBy<Crc32cHash>>::create(
                     {.capacity = 111'111, .hash_seed = seed})
                     .value();
    std::vector<InsertOutcome> outcomes(keys.size());
    EXPECT_EQ(table.insert(keys, {}, outcomes), 16U) << "two buckets of eight slots, and no more";
  }
}

}  // namespace
}  // namespace roost
