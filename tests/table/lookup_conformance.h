// What every lookup answers, whatever the table's probing, timers and slots a bucket.
// Each conformance_*_test.cc runs this suite over some variants.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"
#include "tests/table/variants.h"

namespace roost {

template <class VariantT>
class LookupConformance : public VariantTest<VariantT> {};

TYPED_TEST_SUITE_P(LookupConformance);

TYPED_TEST_P(LookupConformance,
             lookup_of_any_batch_size_sets_hit_bits_and_leaves_missing_lanes_untouched) {
  using Key = typename TypeParam::Key;
  for (const Isa isa : isas_built()) {
    if (!isa_is_supported(isa)) continue;
    const auto table = TestFixture::filled(1 << 15, isa);
    for (size_t batch = 0; batch <= 200; ++batch) {
      std::vector<Key> keys;
      for (size_t lane = 0; lane < batch; ++lane)
        keys.push_back(Key::of(lane % 3 == 0 ? 1'000'000 + lane : lane * 37));
      std::vector<typename TypeParam::Value> out(batch, TestFixture::kUntouched);
      std::vector<uint64_t> words(hit_word_count(batch) + 1, ~uint64_t{0});
      const size_t count = table.lookup(keys, out, HitWords(words));
      size_t hits = 0;
      for (size_t lane = 0; lane < batch; ++lane) {
        const bool is_there = lane % 3 != 0;
        hits += is_there ? 1U : 0U;
        ASSERT_EQ(HitWords(words).test(lane), is_there) << batch << " lane " << lane;
        ASSERT_EQ(out[lane], is_there ? lane * 37 : TestFixture::kUntouched);
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

TYPED_TEST_P(LookupConformance, every_key_is_found_and_no_other) {
  using Key = typename TypeParam::Key;
  const auto table = TestFixture::filled(1 << 14);
  ASSERT_FALSE(table.audit());
  std::vector<Key> keys;
  for (uint64_t i = 0; i < 2 * table.size(); ++i) keys.push_back(Key::of(i));
  std::vector<typename TypeParam::Value> out(keys.size(), TestFixture::kUntouched);
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  EXPECT_EQ(table.lookup(keys, out, HitWords(words)), table.size());
  for (uint64_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(out[i], i < table.size() ? i : TestFixture::kUntouched);
}

TYPED_TEST_P(LookupConformance, all_hit_and_all_miss_batches_with_duplicates) {
  using Key = typename TypeParam::Key;
  const auto table = TestFixture::filled(4096);
  std::vector<Key> keys(33, Key::of(17));
  using Values = std::vector<typename TypeParam::Value>;
  Values out(33, TestFixture::kUntouched);
  HitArray<33> hits;
  EXPECT_EQ(table.lookup(keys, out, hits), 33U);
  EXPECT_EQ(out, Values(33, 17));
  keys.assign(33, Key::of(1 << 30));
  out.assign(33, TestFixture::kUntouched);
  EXPECT_EQ(table.lookup(keys, out, hits), 0U);
  EXPECT_EQ(out, Values(33, TestFixture::kUntouched));
}

TYPED_TEST_P(LookupConformance, every_form_of_lookup_gives_the_same_answers) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::filled(4096);
  std::vector<Key> keys;
  for (uint64_t i = 0; i < 100; ++i) keys.push_back(Key::of(i * 79));
  std::vector<const Key*> pointers;
  for (const Key& key : keys) pointers.push_back(&key);
  std::vector<Hash64> hashes(100);
  table.hash_batch(keys, hashes);
  std::vector<typename TypeParam::Value> expected(100, TestFixture::kUntouched);
  HitArray<100> hits;
  const size_t count = table.lookup(keys, expected, hits);
  ASSERT_EQ(count, (table.size() + 78) / 79);
  const auto expect_same = [&](auto&& lookup) {
    std::vector<typename TypeParam::Value> out(100, TestFixture::kUntouched);
    HitArray<100> other_hits;
    EXPECT_EQ(lookup(std::span<typename TypeParam::Value>(out), HitWords(other_hits)), count);
    EXPECT_EQ(out, expected);
    for (size_t lane = 0; lane < 100; ++lane) EXPECT_EQ(hits.test(lane), other_hits.test(lane));
  };
  const std::span<const Key> span(keys);
  const std::span<const Key* const> pointed(pointers);
  const std::span<const Hash64> given(hashes);
  expect_same([&](auto out, auto bits) { return table.lookup(pointed, out, bits); });
  expect_same([&](auto out, auto bits) {
    return table.lookup(HashedKeys{span, given}, out, bits);
  });
  expect_same([&](auto out, auto bits) {
    return table.lookup(HashedKeys{pointed, given}, out, bits);
  });
  std::vector<Hash64> asked;
  for (const Key& key : keys) asked.push_back(table.prefetch(key));
  EXPECT_EQ(asked, hashes);
  expect_same([&](auto out, auto bits) {
    return table.lookup(PrefetchedKeys{span, std::span<const Hash64>(asked)}, out, bits);
  });
  expect_same([&](auto out, auto bits) { return table.lookup(table.start(span), out, bits); });
  expect_same([&](auto out, auto bits) {
    return table.lookup(table.start(HashedKeys{pointed, given}), out, bits);
  });
  expect_same([&](auto out, auto bits) {
    return table.lookup_refresh(table.start(pointed), 5, out, bits);
  });
  expect_same([&](auto out, auto bits) {
    auto flight = table.start(std::span<const Key>());
    table.lookup_and_start(flight, {}, bits, span);
    return table.lookup(flight, out, bits);
  });
  std::vector<typename TypeParam::Value*> found(100, nullptr);
  EXPECT_EQ(table.find(table.start(span), found, hits), count);
  for (size_t lane = 0; lane < 100; ++lane)
    EXPECT_EQ(found[lane] ? *found[lane] : TestFixture::kUntouched, expected[lane]);
  HitArray<100> only_bits;
  EXPECT_EQ(table.lookup(span, only_bits), count);
}

TYPED_TEST_P(LookupConformance, find_points_into_the_table) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::filled(4096);
  *table.find(Key::of(3)) = 333;
  EXPECT_EQ(*table.find(Key::of(3)), 333U);
  EXPECT_EQ(table.find(Key::of(7777)), nullptr);
}

TYPED_TEST_P(LookupConformance, a_set_holds_keys_without_values) {
  using Key = typename TypeParam::SetKey;
  auto set =
      FlowTable<Key, NoValue, VariantPolicies<TypeParam>>::create({.capacity = 4096}).value();
  std::vector<Key> keys;
  for (uint64_t i = 0; i < TestFixture::entries_in(4096); ++i) keys.push_back(Key::of(i));
  std::vector<InsertOutcome> outcomes(keys.size());
  EXPECT_EQ(set.insert(keys, {}, outcomes), keys.size());
  keys.push_back(Key::of(5000));
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  EXPECT_EQ(set.lookup(keys, HitWords(words)), keys.size() - 1);
  EXPECT_FALSE(HitWords(words).test(keys.size() - 1));
}

TYPED_TEST_P(LookupConformance, a_lookup_counts_the_second_lines_that_it_touches) {
  using Key = typename TypeParam::Key;
  auto table = TestFixture::filled(1 << 14);
  std::vector<Key> keys;
  for (uint64_t i = 0; i < 2 * table.size(); ++i) keys.push_back(Key::of(i));
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  ASSERT_EQ(table.lookup(keys, HitWords(words)), table.size());
  const TableStats stats = table.stats();
  uint64_t displaced = 0;
  for (uint64_t bucket = 0; bucket < table.bucket_count(); ++bucket)
    displaced += displaced_slots(TableInspector::line(table, BucketIndex{bucket})).count();
  EXPECT_EQ(stats.lookups.lookups, keys.size());
  EXPECT_EQ(stats.lookups.hits, table.size());
  if (TypeParam::Probing::kVisitsBoth) {
    EXPECT_EQ(stats.lookups.secondary_visits, keys.size());
  }
  // A displaced key whose tag another key in its primary bucket has is found without a visit that
  // counts; such keys are rare.
  EXPECT_NEAR(
      static_cast<double>(stats.lookups.secondary_visits - stats.lookups.filter_false_positives),
      static_cast<double>(displaced), 3);
}

TYPED_TEST_P(LookupConformance, a_bucket_in_words_names_its_slots) {
  const auto table = TestFixture::filled(1024);
  const std::string slots = std::to_string(TypeParam::kSlots);
  for (uint64_t bucket = 0; bucket < table.bucket_count(); ++bucket)
    ASSERT_NE(table.dump(BucketIndex{bucket}).find(" of " + slots + " slots busy"),
              std::string::npos);
}

REGISTER_TYPED_TEST_SUITE_P(
    LookupConformance, lookup_of_any_batch_size_sets_hit_bits_and_leaves_missing_lanes_untouched,
    every_key_is_found_and_no_other, all_hit_and_all_miss_batches_with_duplicates,
    every_form_of_lookup_gives_the_same_answers, find_points_into_the_table,
    a_set_holds_keys_without_values, a_lookup_counts_the_second_lines_that_it_touches,
    a_bucket_in_words_names_its_slots);

}  // namespace roost
