// One test a trap of the paper's design, named after what it protects. The X-numbers are those of
// docs/papers.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"
#include "tests/table/trap_table.h"

namespace roost {
namespace {

using Table = TimedTable;

// --- the moved count follows every way an entry can leave its secondary bucket. ---

// A table whose bucket 0 is full of keys that expire late, with one more key that sits in its
// secondary bucket.
class DisplacedKey : public testing::Test {
 protected:
  DisplacedKey() {
    for (uint64_t i = 0; i < kSlotsPerBucket; ++i) {
      EXPECT_EQ(table_.insert(chosen(table_, 0, kTag, 100 + i), i, 1000), InsertOutcome::kInserted);
    }
    EXPECT_EQ(table_.insert(displaced_, 42, 10), InsertOutcome::kInserted);
    EXPECT_EQ(line(0).moved, 1);
    EXPECT_EQ(line(0).filter, TagLine::filter_bits(Tag{kTag}));
    EXPECT_EQ(line(secondary()).displaced, 1);
  }

  TagLine& line(uint64_t bucket) { return TableInspector::line(table_, BucketIndex{bucket}); }
  uint64_t secondary() const {
    return static_cast<uint64_t>(BucketMap(table_.bucket_count()).other(BucketIndex{0}, Tag{kTag}));
  }
  void expect_forgotten() {
    EXPECT_EQ(line(0).moved, 0);
    EXPECT_EQ(line(0).filter, 0U);
    EXPECT_FALSE(table_.audit());
  }

  static constexpr uint16_t kTag = 0x0FC1;
  std::vector<uint64_t> expired_;
  ChosenTable table_ = make<ChosenTable>(256, {&expired_});
  Key16 displaced_ = chosen(table_, 0, kTag, 7);
};

TEST_F(DisplacedKey, X27_erasing_it_resets_the_filter) {
  EXPECT_TRUE(table_.erase(displaced_));
  expect_forgotten();
}

TEST_F(DisplacedKey, X27_overwriting_it_after_expiry_resets_the_filter) {
  table_.advance(Tick{11});
  // Keys whose primary bucket is the displaced key's secondary one, until the expired slot is the
  // only vacant one.
  for (uint64_t i = 0; i < kSlotsPerBucket; ++i) {
    ASSERT_EQ(table_.insert(chosen(table_, secondary(), 0x0003, i), i, 1000),
              InsertOutcome::kInserted);
  }
  EXPECT_EQ(expired_, std::vector<uint64_t>{displaced_.number});
  EXPECT_EQ(table_.stats().expired_overwritten, 1U);
  expect_forgotten();
}

TEST_F(DisplacedKey, X27_the_scan_resets_the_filter) {
  table_.advance(Tick{11});
  EXPECT_EQ(table_.maintain(table_.bucket_count()), 1U);
  expect_forgotten();
}

TEST_F(DisplacedKey, X27_moving_it_back_to_its_primary_resets_the_filter) {
  ASSERT_TRUE(table_.erase(chosen(table_, 0, kTag, 100)));
  TableInspector::move(table_, {BucketIndex{secondary()}, 0}, {BucketIndex{0}, 0});
  expect_forgotten();
  EXPECT_NE(table_.find(displaced_), nullptr);
}

TEST_F(DisplacedKey, X27_the_count_is_never_decremented_for_keys_in_their_primary) {
  for (uint64_t i = 0; i < kSlotsPerBucket; ++i)
    EXPECT_TRUE(table_.erase(chosen(table_, 0, kTag, 100 + i)));
  EXPECT_EQ(line(0).moved, 1);
  EXPECT_NE(table_.find(displaced_), nullptr) << "the displaced key must stay reachable";
}

TEST(X28, a_saturated_moved_count_sticks_and_loses_no_key) {
  // More than 65,535 keys with the same primary bucket, each displaced to the bucket its tag says.
  ChosenTable table = make<ChosenTable>(uint64_t{1} << 21);
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < 70'000; ++i) {
    keys.push_back(chosen(table, 6, static_cast<uint16_t>(i * 7), i));
    ASSERT_EQ(table.insert(keys.back(), i), InsertOutcome::kInserted);
  }
  EXPECT_EQ(TableInspector::line(table, BucketIndex{6}).moved, TagLine::kMovedSaturated);
  EXPECT_FALSE(table.audit());
  while (keys.size() > 100) {
    ASSERT_TRUE(table.erase(keys.back()));
    keys.pop_back();
  }
  EXPECT_EQ(TableInspector::line(table, BucketIndex{6}).moved, TagLine::kMovedSaturated);
  for (const Key16& key : keys) ASSERT_NE(table.find(key), nullptr);
  EXPECT_FALSE(table.audit());
  table.clear();
  EXPECT_EQ(TableInspector::line(table, BucketIndex{6}).moved, 0);
  EXPECT_FALSE(table.audit());
}

// --- filter bits do not depend on what picks the bucket. ---

TEST(X29, the_filter_errs_as_rarely_as_two_independent_bits_do) {
  // From the paper's Table 2, at the same loads; a Poisson model gives 0.00021, 0.00115, 0.00288.
  const std::map<double, double> expected = {{0.6, 0.0002}, {0.8, 0.00115}, {0.95, 0.0034}};
  Table table = make(1 << 20);
  uint64_t next = 0;
  for (const auto& [load, rate] : expected) {
    while (static_cast<double>(table.size()) < load * static_cast<double>(table.capacity())) {
      ASSERT_EQ(table.insert(Key16::of(next++), 0), InsertOutcome::kInserted);
    }
    std::vector<Key16> absent;
    for (uint64_t i = 0; i < 1'000'000; ++i) absent.push_back(Key16::of((uint64_t{1} << 40) + i));
    std::vector<uint64_t> words(hit_word_count(absent.size()));
    const uint64_t before = table.stats().lookups.filter_false_positives;
    ASSERT_EQ(table.lookup(absent, HitWords(words)), 0U);
    const double measured =
        static_cast<double>(table.stats().lookups.filter_false_positives - before) / 1e6;
    EXPECT_GT(measured, rate * 0.6) << "load " << load;
    EXPECT_LT(measured, rate * 1.6) << "load " << load;
    RecordProperty("filter_false_positive_rate_at_" + std::to_string(load),
                   std::to_string(measured));
  }
}

// --- the two buckets of a key are never the same. ---

TEST(X30, a_key_has_two_different_buckets_in_tables_of_any_size) {
  for (const uint64_t n : {2U, 4U, 6U, 10U, 100U, 126U, 65'534U, 1'000'000U}) {
    const BucketMap map(n);
    for (uint32_t tag = 0; tag < 65'536; tag += 17) {
      for (const uint64_t bucket : {uint64_t{0}, uint64_t{1}, n / 2, n - 1}) {
        const BucketIndex other = map.other(BucketIndex{bucket}, Tag{static_cast<uint16_t>(tag)});
        ASSERT_NE(other, BucketIndex{bucket}) << n;
        ASSERT_LT(static_cast<uint64_t>(other), n);
        ASSERT_EQ(map.other(other, Tag{static_cast<uint16_t>(tag)}), BucketIndex{bucket});
      }
    }
  }
}

// --- an expired entry of the same key is found, not doubled. ---

TEST_F(DisplacedKey, X31_reinserting_a_key_that_expired_in_its_secondary_reuses_its_slot) {
  table_.advance(Tick{11});
  ASSERT_TRUE(table_.erase(chosen(table_, 0, kTag, 100)))
      << "so that the primary bucket has a free slot";
  ASSERT_EQ(table_.insert(displaced_, 43, 10), InsertOutcome::kInserted);
  EXPECT_EQ(table_.size(), kSlotsPerBucket);
  EXPECT_EQ(expired_, std::vector<uint64_t>{displaced_.number})
      << "the expired flow of that key is reclaimed once";
  EXPECT_FALSE(table_.audit());
  ASSERT_NE(table_.find(displaced_), nullptr);
  EXPECT_EQ(*table_.find(displaced_), 43U);
  EXPECT_TRUE(table_.erase(displaced_));
  EXPECT_EQ(table_.find(displaced_), nullptr) << "no second copy comes to light";
}

TEST(X31, upserting_an_expired_key_makes_a_new_entry) {
  std::vector<uint64_t> expired;
  Table table = make(64, {&expired});
  ASSERT_EQ(table.insert(Key16::of(1), 10, 5), InsertOutcome::kInserted);
  table.advance(Tick{6});
  uint64_t value = 20;
  EXPECT_EQ(table.upsert(Key16::of(1), value, 5), InsertOutcome::kInserted);
  EXPECT_EQ(value, 20U);
  EXPECT_EQ(expired, std::vector<uint64_t>{1});
  EXPECT_EQ(table.upsert(Key16::of(1), value = 30, 5), InsertOutcome::kExisting);
  EXPECT_EQ(value, 20U);
  EXPECT_FALSE(table.audit());
}

// --- a refused insert changes not one byte. ---

TEST(X32, a_refused_insert_leaves_every_byte_of_the_table_as_it_was) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  constexpr size_t kHeaderLines = sizeof(ImageHeader) / sizeof(Line);
  std::vector<Line> memory(kHeaderLines + 4096 / kSlotsPerBucket * (64 + 8 * 24) / 64);
  Table table = Table::create({.capacity = 4096,
                               .hash_seed = 5,
                               .memory = std::span(memory[0].bytes, memory.size() * sizeof(Line))})
                    .value();
  std::vector<Line> before;
  TableStats stats;
  unsigned refusals = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    before = memory;
    stats = table.stats();
    if (table.insert(Key16::of(i), i) != InsertOutcome::kFull) continue;
    ++refusals;
    ASSERT_EQ(std::memcmp(&before[kHeaderLines], &memory[kHeaderLines],
                          (memory.size() - kHeaderLines) * sizeof(Line)),
              0);
    ASSERT_EQ(table.stats().size, stats.size);
    ASSERT_EQ(table.stats().kicks, stats.kicks);
    ASSERT_EQ(table.stats().refusals, refusals);
  }
  EXPECT_GE(refusals, 50U);
  EXPECT_GE(table.stats().load, 0.95);
  EXPECT_FALSE(table.audit());
}

// --- a tag is a hint, the key decides. ---

TEST(X36, keys_with_equal_tags_and_buckets_are_told_apart) {
  ChosenTable table = make<ChosenTable>(256);
  std::vector<Key16> keys;
  for (uint64_t i = 0; i < 16; ++i) {
    keys.push_back(chosen(table, 3, 0xABCD, i));
    ASSERT_EQ(table.insert(keys.back(), 1000 + i), InsertOutcome::kInserted);
  }
  std::vector<uint64_t> out(16);
  HitArray<16> hits;
  ASSERT_EQ(table.lookup(keys, out, hits), 16U)
      << "every slot with the tag must be tried, in both buckets";
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], 1000 + i);
  out.assign(16, 7);
  const std::vector<Key16> absent(16, chosen(table, 3, 0xABCD, 99));
  EXPECT_EQ(table.lookup(absent, out, hits), 0U) << "a key that was never inserted";
  EXPECT_EQ(out, std::vector<uint64_t>(16, 7))
      << "a lane that misses is untouched, candidates or not";
  EXPECT_EQ(table.insert(chosen(table, 3, 0xABCD, 99), 0), InsertOutcome::kFull);
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(table.erase(keys[i]));
    for (uint64_t j = i + 1; j < 16; ++j) ASSERT_EQ(*table.find(keys[j]), 1000 + j);
  }
}

TEST(X36, forty_byte_keys_are_compared_to_their_last_byte) {
  struct Chosen : DefaultPolicies {
    using Hash = TestHash;
  };
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    auto table = FlowTable<Key40, uint64_t, Chosen>::create(
                     {.capacity = 64, .hash_seed = kConstantSeed, .isa = isa})
                     .value();
    Key40 key = Key40::of(0);
    ASSERT_EQ(table.insert(key, 1), InsertOutcome::kInserted);
    for (size_t byte = 0; byte < sizeof(Key40); ++byte) {
      Key40 other = key;
      reinterpret_cast<unsigned char*>(&other)[byte] ^= 0x80;
      ASSERT_EQ(table.find(other), nullptr) << isa_name(isa) << " byte " << byte;
    }
  }
}

}  // namespace
}  // namespace roost
