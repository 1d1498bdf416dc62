// What is particular to tables with keys and values in the buckets' lines: which tables they are,
// what they cost, when they refuse, and their lines broken by hand.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

// --- Which tables are inline. ---

template <class Policies, LayoutChoice kChoice>
struct With : Policies {
  static constexpr LayoutChoice kLayout = kChoice;
};
struct Horton : DefaultPolicies {
  using Probing = HortonProbing;
};
struct Pessimistic : DefaultPolicies {
  using Probing = PessimisticProbing<>;
};

template <size_t kKeyBytes, size_t kValueBytes, class Policies = DefaultPolicies>
constexpr unsigned kSlotsOf = LayoutOf<ByteKey<kKeyBytes>, Value<kValueBytes>, Policies>::kSlots;

TEST(LayoutChoice, sizes_choose_the_layout_unless_a_policy_does) {
  using Split = With<DefaultPolicies, LayoutChoice::kSplit>;
  using Inline = With<DefaultPolicies, LayoutChoice::kInline>;
  EXPECT_EQ((kSlotsOf<16, 16>), 8U) << "tables of 16 + 16 bytes stay as they are";
  EXPECT_EQ((kSlotsOf<13, 16>), 2U);
  EXPECT_EQ((kSlotsOf<13, 4>), 3U);
  EXPECT_EQ((kSlotsOf<16, 8>), 8U) << "inline would cost memory";
  EXPECT_EQ((kSlotsOf<16, 8, Inline>), 2U);
  EXPECT_EQ((kSlotsOf<13, 4, Split>), 8U);
  EXPECT_EQ((kSlotsOf<13, 4, Horton>), 8U);
  EXPECT_EQ((kSlotsOf<13, 4, Pessimistic>), 8U);
}

TEST(LayoutChoice, automatic_never_costs_memory) {
  for (size_t key = 1; key <= 64; ++key) {
    for (size_t value = 0; value <= 64; ++value) {
      if (!inline_costs_no_more(key, value)) continue;
      const unsigned slots = inline_slots(key, value);
      ASSERT_TRUE(slots == 2 || slots == 3) << key << " + " << value;
      const double inline_bytes = 64.0 / slots / (slots == 2 ? 0.85 : 0.90);
      const size_t entry = (padded_key_bytes(key) + value + 7) / 8 * 8;
      ASSERT_LE(inline_bytes, static_cast<double>(8 + entry) / 0.95) << key << " + " << value;
    }
  }
}

TEST(LayoutChoice, every_key_can_be_read_as_a_register_without_leaving_its_line) {
  for (size_t key = 0; key <= 64; ++key) {
    for (size_t value = 0; value <= 64; ++value) {
      const unsigned slots = inline_slots(key, value);
      const bool fits = key >= 4 && key <= 16 && key + value <= 29 && !(key == 9 && value == 20);
      ASSERT_EQ(slots, fits ? (key + value <= 17 ? 3U : 2U) : 0U) << key << " + " << value;
      if (!fits) continue;
      ASSERT_LE(slots * value + (slots - 1) * key + padded_key_bytes(key), 64U)
          << key << " + " << value;
    }
  }
}

// --- The tables of the tests below. ---

struct Timed : DefaultPolicies {
  using Expiry = SlotTimers;
  using Probe = LookupCounts;
};
template <size_t kValueBytes>
using Table = FlowTable<ByteKey<13>, Value<kValueBytes>, Timed>;

// Inserts keys until one is refused; returns how many were not.
template <class TableType>
uint64_t fill(TableType& table) {
  using Val = std::remove_reference_t<decltype(*table.find(ByteKey<13>::of(0)))>;
  uint64_t count = 0;
  while (table.insert(ByteKey<13>::of(count), Val::of(count)) != InsertOutcome::kFull) ++count;
  return count;
}

template <class ValueT>
struct InlineTable : testing::Test {
  static constexpr bool kIsOfTwo = sizeof(ValueT) == 16;
  static constexpr unsigned kSlots = kIsOfTwo ? 2 : 3;
  using TableType = FlowTable<ByteKey<13>, ValueT, Timed>;
};
using BothSizes = testing::Types<Value<16>, Value<4>>;
TYPED_TEST_SUITE(InlineTable, BothSizes, );

TYPED_TEST(InlineTable, an_entry_costs_forty_or_twenty_seven_bytes_timers_included) {
  const double load = TestFixture::kIsOfTwo ? 0.80 : 0.85;
  const uint64_t limit = TestFixture::kIsOfTwo ? 40 : 27;
  for (const uint64_t capacity : {uint64_t{6'000}, uint64_t{600'000}}) {
    auto table = TestFixture::TableType::create({.capacity = capacity, .hash_seed = 1}).value();
    const auto entries = static_cast<uint64_t>(load * static_cast<double>(table.capacity()));
    for (uint64_t i = 0; i < entries; ++i)
      ASSERT_EQ(table.insert(ByteKey<13>::of(i), TypeParam::of(i)), InsertOutcome::kInserted);
    constexpr uint64_t kFixed = 65'536;
    EXPECT_LT(table.memory_bytes(), limit * table.size() + kFixed);
  }
}

TYPED_TEST(InlineTable, inserts_are_refused_near_the_load_that_theory_names) {
  // Two choices of two slots end at 0.897, of three at 0.959.
  const double expected = TestFixture::kIsOfTwo ? 0.888 : 0.952;
  for (const uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto table = TestFixture::TableType::create({.capacity = 600'000, .hash_seed = seed}).value();
    const uint64_t count = fill(table);
    const double load = static_cast<double>(count) / static_cast<double>(table.capacity());
    EXPECT_NEAR(load, expected, 0.006);
    ASSERT_FALSE(table.audit());
    for (uint64_t i = 0; i < count; i += 101)
      ASSERT_EQ(*table.find(ByteKey<13>::of(i)), TypeParam::of(i));
  }
}

TYPED_TEST(InlineTable, a_table_created_for_n_entries_accepts_n_whatever_the_seed) {
  uint64_t stashed = 0;
  for (const uint64_t entries : {1U, 3U, 5U, 10U, 17U, 30U, 61U, 121U, 250U, 1'000U, 4'000U}) {
    for (uint64_t seed = 0; seed < 1 + 100'000 / (entries + 50); ++seed) {
      auto table = TestFixture::TableType::create(
                       {.entries_max = entries, .hash_seed = seed, .pages = PageKind::kSmall})
                       .value();
      ASSERT_GE(table.capacity(), entries);
      for (uint64_t i = 0; i < entries; ++i) {
        ASSERT_EQ(table.insert(ByteKey<13>::of(i), TypeParam::of(i)), InsertOutcome::kInserted)
            << entries << " entries, seed " << seed;
      }
      stashed += table.stats().stashed;
      ASSERT_FALSE(table.audit()) << table.audit()->what;
    }
  }
  EXPECT_GT(stashed, 0U) << "small tables did need their stash";
}

TYPED_TEST(InlineTable, a_million_entries_are_promised_at_85_or_90_percent_and_no_higher) {
  constexpr uint64_t kEntries = 1'000'000;
  auto table = TestFixture::TableType::create({.entries_max = kEntries, .hash_seed = 5}).value();
  const double load = static_cast<double>(kEntries) / static_cast<double>(table.capacity());
  EXPECT_NEAR(load, TestFixture::kIsOfTwo ? 0.85 : 0.90, 0.0001);
  for (uint64_t i = 0; i < kEntries; ++i)
    ASSERT_EQ(table.insert(ByteKey<13>::of(i), TypeParam::of(i)), InsertOutcome::kInserted);
  EXPECT_EQ(table.stats().stashed, 0U);
  const auto over = TestFixture::TableType::create({.capacity = 1200, .entries_max = 1081});
  ASSERT_FALSE(over);
  EXPECT_NE(over.error().message.find(TestFixture::kIsOfTwo ? "promise to hold 1020"
                                                            : "promise to hold 1080"),
            std::string::npos)
      << over.error().message;
}

TYPED_TEST(InlineTable, a_hit_in_the_primary_bucket_touches_one_line) {
  auto table = TestFixture::TableType::create({.capacity = 120'000, .hash_seed = 9}).value();
  std::vector<ByteKey<13>> keys;
  for (uint64_t i = 0; i < 60'000; ++i) {
    keys.push_back(ByteKey<13>::of(i));
    ASSERT_EQ(table.insert(keys.back(), TypeParam::of(i)), InsertOutcome::kInserted);
  }
  uint64_t displaced = 0;
  const TableStats before = table.stats();
  for (unsigned n = 0; n < before.moved_histogram.size(); ++n)
    displaced += n * before.moved_histogram[n];
  std::vector<TypeParam> out(keys.size());
  std::vector<uint64_t> words(hit_word_count(keys.size()));
  ASSERT_EQ(table.lookup(keys, out, HitWords(words)), keys.size());
  const LookupCounts counts = table.stats().lookups;
  EXPECT_EQ(counts.secondary_visits, displaced) << "what sits at home is found at home";
  EXPECT_EQ(counts.tag_false_positives, 0U) << "a candidate is the key";
  EXPECT_LT(static_cast<double>(displaced), 0.15 * static_cast<double>(keys.size()));
}

TYPED_TEST(InlineTable, values_in_place_are_aligned_for_their_size) {
  auto table = TestFixture::TableType::create({.capacity = 600, .hash_seed = 2}).value();
  for (uint64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(table.insert(ByteKey<13>::of(i), TypeParam::of(i)), InsertOutcome::kInserted);
  }
  for (uint64_t i = 0; i < 400; ++i) {
    const auto* value = table.find(ByteKey<13>::of(i));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(value) % sizeof(TypeParam), 0U);
  }
}

// Keys and values with alignments of their own: a walk and the eviction callback see whole, aligned
// objects.
TEST(InlineTypes, keys_are_seen_aligned_by_walks_and_callbacks) {
  struct WideKey {
    uint64_t high;
    uint32_t low;
    uint32_t rest;
  };
  static uint64_t misaligned = 0;
  static uint64_t sum = 0;
  struct SeeingCallback {
    void operator()(const WideKey& key, const uint8_t& /*value*/) const {
      misaligned += reinterpret_cast<uintptr_t>(&key) % alignof(WideKey) != 0 ? 1U : 0U;
      sum += key.high + key.rest;
    }
  };
  struct CallbackPolicies : DefaultPolicies {
    using Expiry = SlotTimers;
    using EvictionCallback = SeeingCallback;
  };
  using Small = FlowTable<WideKey, uint8_t, CallbackPolicies>;
  static_assert(kSlotsOf<sizeof(WideKey), 1, CallbackPolicies> == 3);
  Small table = Small::create({.capacity = 66}).value();
  for (uint32_t i = 0; i < 40; ++i)
    ASSERT_EQ(table.insert({i, 7, i}, 1, 5), InsertOutcome::kInserted);
  table.for_each([&](const WideKey& key, const uint8_t& value) {
    misaligned += reinterpret_cast<uintptr_t>(&key) % alignof(WideKey) != 0 ? 1U : 0U;
    EXPECT_EQ(key.low, 7U);
    EXPECT_EQ(value, 1U);
  });
  table.advance(Tick{6});
  EXPECT_EQ(table.maintain(table.bucket_count()), 40U);
  EXPECT_EQ(sum, 2U * 39 * 40 / 2);
  EXPECT_EQ(misaligned, 0U);
}

}  // namespace
}  // namespace roost
