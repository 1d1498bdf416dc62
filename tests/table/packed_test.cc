// Tables with a word an entry: which tables are, and that the key comes back from place and
// remainder, which no other key has.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/packed_keys.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

using MacTable = FlowTable<Mac, uint16_t>;
using VlanTable = FlowTable<VlanMac, uint16_t>;

// --- Which tables are packed. ---

struct Timed : DefaultPolicies {
  using Expiry = SlotTimers;
};
struct Split : DefaultPolicies {
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
};
struct WithoutPermutation : DefaultPolicies {
  using Hash = TestHash;
};

template <class Table>
constexpr const char* kLayoutName =
    std::remove_cvref_t<decltype(std::declval<Table&>().core().engine().layout())>::kName;

TEST(PackedChoice, short_keys_with_short_values_and_no_expiry_are_packed) {
  EXPECT_STREQ(kLayoutName<MacTable>, "packed");
  EXPECT_STREQ(kLayoutName<VlanTable>, "packed");
  EXPECT_STREQ((kLayoutName<FlowTable<uint32_t, NoValue>>), "packed");
  EXPECT_STREQ((kLayoutName<FlowTable<uint8_t, uint8_t>>), "packed");
  EXPECT_STREQ((kLayoutName<FlowTable<Mac, uint16_t, WithPermutation>>), "packed");
  EXPECT_STREQ((kLayoutName<FlowTable<uint64_t, uint16_t>>), "inline") << "64 bits of key";
  EXPECT_STREQ((kLayoutName<FlowTable<Mac, uint32_t>>), "inline") << "4 bytes of value";
  EXPECT_STREQ((kLayoutName<FlowTable<Mac, uint16_t, Timed>>), "inline");
  EXPECT_STREQ((kLayoutName<FlowTable<Mac, uint16_t, WithoutPermutation>>), "inline")
      << "no permutation";
  EXPECT_STREQ((kLayoutName<FlowTable<Mac, uint16_t, Split>>), "split");
}

TEST(PackedChoice, an_entry_takes_a_word) {
  const uint64_t few = MacTable::bytes_to_lend({.capacity = 1 << 16}).value();
  const uint64_t many = MacTable::bytes_to_lend({.capacity = 1 << 20}).value();
  EXPECT_EQ(many - few, ((1 << 20) - (1 << 16)) * 8);
}

TEST(PackedChoice, too_few_slots_are_refused_with_the_number_that_will_do) {
  const auto macs = MacTable::create({.capacity = 31});
  ASSERT_FALSE(macs);
  EXPECT_EQ(macs.error().message.find("a capacity of 31 slots is out of range; set 32 to"), 0U)
      << macs.error().message;
  EXPECT_EQ(MacTable::create({.capacity = 32}).value().capacity(), 32U);
  const auto vlans = VlanTable::create({.capacity = 131'071});
  ASSERT_FALSE(vlans);
  EXPECT_NE(vlans.error().message.find("set 131072 to"), std::string::npos);
  EXPECT_EQ(VlanTable::create({.capacity = 131'072}).value().capacity(), 131'072U);
  EXPECT_EQ(VlanTable::create({.entries_max = 10}).value().capacity(), 131'072U)
      << "a table that may choose takes what it needs";
}

// --- The key is in place, mark and remainder. ---

template <class Table, class KeyOf>
void expect_keys_back(Table& table, uint64_t count, KeyOf&& key_of) {
  using Key = decltype(key_of(uint64_t{}));
  std::vector<uint64_t> visits(count);
  table.for_each([&](const Key& key, uint16_t& value) {
    const Key wanted = key_of(value);
    ASSERT_EQ(std::memcmp(&key, &wanted, sizeof(Key)), 0) << value;
    ++visits[value];
  });
  EXPECT_EQ(visits, std::vector<uint64_t>(count, 1));
}

TEST(PackedKeys, come_back_whatever_the_number_of_buckets) {
  for (const uint64_t capacity : {32U, 48U, 80U, 112U, 1'616U, 4'096U, 41'008U}) {
    MacTable table = MacTable::create({.capacity = capacity, .hash_seed = capacity}).value();
    std::mt19937_64 random(capacity);
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < capacity * 9 / 10; ++i) {
      numbers.push_back(random() >> 16);
      ASSERT_EQ(table.insert(Mac::of(numbers[i]), static_cast<uint16_t>(i)),
                InsertOutcome::kInserted);
    }
    const auto violation = table.audit();
    ASSERT_FALSE(violation) << violation->what;
    expect_keys_back(table, numbers.size(), [&](uint64_t i) { return Mac::of(numbers[i]); });
  }
}

// 131,072 slots are the fewest for 60 bits: each bucket has exactly as many hashes as there are
// remainders. All that differ from a key in few bits are other keys.
TEST(PackedKeys, of_sixty_bits_are_told_apart_by_every_bit_in_the_smallest_table) {
  VlanTable table = VlanTable::create({.capacity = 131'072, .hash_seed = 5}).value();
  std::mt19937_64 random(1);
  std::vector<VlanMac> keys(40'000);
  for (uint64_t i = 0; i < keys.size(); ++i) {
    keys[i] = VlanMac::of(random());
    ASSERT_EQ(table.insert(keys[i], static_cast<uint16_t>(i)), InsertOutcome::kInserted);
  }
  expect_keys_back(table, keys.size(), [&](uint64_t i) { return keys[i]; });
  for (const VlanMac& key : keys) {
    for (unsigned bit = 0; bit < 60; ++bit)
      ASSERT_EQ(table.find(VlanMac{key.word ^ uint64_t{1} << bit}), nullptr);
  }
}

TEST(PackedKeys, X36_a_place_and_a_remainder_are_one_key_only) {
  // All keys of a small range, half of them in the table: the others are not found, in batches
  // either.
  for (const uint64_t seed : {uint64_t{3}, kIdentitySeed}) {
    auto table = FlowTable<uint16_t, uint16_t, WithPermutation>::create(
                     {.capacity = 40'000, .hash_seed = seed})
                     .value();
    for (uint32_t key = 0; key < 65'536; key += 2)
      ASSERT_EQ(table.insert(static_cast<uint16_t>(key), static_cast<uint16_t>(key / 2)),
                InsertOutcome::kInserted);
    std::vector<uint16_t> keys(65'536);
    for (uint32_t key = 0; key < keys.size(); ++key) keys[key] = static_cast<uint16_t>(key);
    std::vector<uint16_t> values(keys.size());
    std::vector<uint64_t> words(hit_word_count(keys.size()));
    ASSERT_EQ(table.lookup(keys, values, HitWords(words)), 32'768U);
    for (uint32_t key = 0; key < keys.size(); ++key) {
      ASSERT_EQ(HitWords(words).test(key), key % 2 == 0);
      ASSERT_EQ(table.find(keys[key]) != nullptr, key % 2 == 0);
      ASSERT_EQ(values[key], key % 2 == 0 ? key / 2 : 0);
    }
  }
}

TEST(PackedKeys, that_are_wider_than_said_are_in_no_table_and_go_into_none) {
  VlanTable table = VlanTable::create({.entries_max = 1000, .hash_seed = 2}).value();
  for (uint64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(table.insert(VlanMac{i}, static_cast<uint16_t>(i)), InsertOutcome::kInserted);
  const TableStats before = table.stats();
  std::vector<VlanMac> keys;
  for (uint64_t i = 0; i < 64; ++i)
    keys.push_back(VlanMac{i | (i % 2 == 0 ? 0 : uint64_t{1} << (60 + i % 4))});
  std::vector<uint16_t> values(keys.size(), 0xFFFF);
  HitArray<64> hits;
  EXPECT_EQ(table.lookup(keys, values, hits), 32U);
  HitArray<64> erased;
  std::vector<InsertOutcome> outcomes(keys.size());
  EXPECT_EQ(table.insert(keys, std::vector<uint16_t>(64, 7), outcomes), 32U);
  for (unsigned lane = 0; lane < 64; ++lane) {
    const bool is_narrow = lane % 2 == 0;
    EXPECT_EQ(hits.test(lane), is_narrow);
    EXPECT_EQ(values[lane], is_narrow ? lane : 0xFFFF);
    EXPECT_EQ(outcomes[lane], is_narrow ? InsertOutcome::kUpdated : InsertOutcome::kWideKey);
    EXPECT_EQ(table.find(keys[lane]) != nullptr, is_narrow);
    EXPECT_EQ(table.insert(keys[lane], 8),
              is_narrow ? InsertOutcome::kUpdated : InsertOutcome::kWideKey);
  }
  EXPECT_EQ(table.erase(keys, erased), 32U);
  EXPECT_EQ(table.size(), before.size - 32);
  EXPECT_EQ(table.stats().refusals, before.refusals) << "the table was not full";
  EXPECT_FALSE(table.audit());
}

}  // namespace
}  // namespace roost
