// How full packed tables get under addresses as networks have them, and under keys that were
// chosen; and what audit() names in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/base/step_count.h"
#include "tests/table/packed_keys.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

using MacTable = FlowTable<Mac, uint16_t>;
using VlanTable = FlowTable<VlanMac, uint16_t>;

// --- How full. ---

enum class Addresses : uint8_t { kRandom, kSequential, kClustered, kEveryVlan };

// The i-th address: of a run that begins somewhere; in turn of four vendors; one address in each of
// 4,096 VLANs, and so the next.
uint64_t address(Addresses kind, uint64_t seed, uint64_t i) {
  constexpr std::array<uint64_t, 4> kVendors = {0x00163E, 0x525400, 0x001B21, 0x3CFDFE};
  const uint64_t base = seed * 0x9E3779B97F4A7C15U;
  switch (kind) {
    case Addresses::kSequential:
      return (base + i) & 0xFFFF'FFFF'FFFF;
    case Addresses::kClustered:
      return kVendors[i % 4] << 24 | ((base + i / 4) & 0xFF'FFFF);
    case Addresses::kEveryVlan:
      return (i % 4096) << 48 | ((base + i / 4096) & 0xFFFF'FFFF'FFFF);
    default:
      return (i + base) * 0xBF58476D1CE4E5B9U >> 4;
  }
}

template <class Table, class Key>
double load_at_first_refusal(uint64_t capacity, Addresses kind, uint64_t seed) {
  Table table =
      Table::create({.capacity = capacity, .hash_seed = seed, .pages = PageKind::kSmall}).value();
  for (uint64_t i = 0;; ++i) {
    const InsertOutcome outcome =
        table.insert(Key::of(address(kind, seed, i)), static_cast<uint16_t>(i));
    if (outcome == InsertOutcome::kFull) return table.stats().load;
    EXPECT_EQ(outcome, InsertOutcome::kInserted) << "addresses are not two of a kind";
  }
}

TEST(PackedLoad, the_first_refusal_is_at_97_percent_or_later) {
  const uint64_t seeds = step_count(200);
  for (const Addresses kind : {Addresses::kRandom, Addresses::kSequential, Addresses::kClustered}) {
    double least = 1;
    for (uint64_t seed = 0; seed < seeds; ++seed)
      least = std::min(least, load_at_first_refusal<MacTable, Mac>(4'096, kind, seed));
    EXPECT_GE(least, 0.97) << static_cast<int>(kind);
  }
}

TEST(PackedLoad, the_same_for_an_address_in_every_vlan) {
  const uint64_t seeds = step_count(200) / 8;
  for (const Addresses kind : {Addresses::kRandom, Addresses::kSequential, Addresses::kEveryVlan}) {
    double least = 1;
    for (uint64_t seed = 0; seed < seeds; ++seed)
      least = std::min(least, load_at_first_refusal<VlanTable, VlanMac>(131'072, kind, seed));
    EXPECT_GE(least, 0.97) << static_cast<int>(kind);
  }
}

TEST(PackedLoad, what_was_promised_is_kept_whatever_the_seed) {
  const uint64_t steps = std::max<uint64_t>(step_count(100'000), 20'000);  // fewer stash nothing
  uint64_t stashed = 0;
  for (const uint64_t entries : {45U, 60U, 76U, 91U, 121U, 4'000U}) {
    for (uint64_t seed = 0; seed < steps / entries; ++seed) {
      MacTable table = MacTable::create({.entries_max = entries, .hash_seed = seed}).value();
      EXPECT_GE(table.stats().capacity, entries);
      for (uint64_t i = 0; i < entries; ++i)
        ASSERT_EQ(table.insert(Mac::of(address(Addresses::kClustered, seed, i)), 1),
                  InsertOutcome::kInserted);
      stashed += table.stats().stashed;
    }
  }
  EXPECT_GT(stashed, 0U) << "the promise was not kept by luck alone";
}

// --- Keys chosen by someone who knows the hash. ---

// With the identity, near keys are of one bucket; of those, the ones that have the other one in
// common.
class PackedAdversary : public testing::Test {
 protected:
  using Table = FlowTable<Mac, uint16_t, WithPermutation>;

  Hash64 hash_of(const Mac& key) {
    std::array<Hash64, 1> hashes{};
    table_.hash_batch(std::span(&key, 1), hashes);
    return hashes[0];
  }
  std::vector<Mac> keys_of_one_pair(size_t count) {
    const auto& engine = TableInspector::engine(table_);
    std::vector<Mac> keys;
    for (uint64_t number = 0; keys.size() < count; ++number) {
      Mac key{};
      std::memcpy(key.bytes.data(), &number, 6);
      const Hash64 hash = hash_of(key);
      EXPECT_EQ(engine.map().primary(hash), BucketIndex{0});
      if (engine.map().other(BucketIndex{0}, engine.layout().tag_of(hash)) == BucketIndex{9})
        keys.push_back(key);
    }
    return keys;
  }

  Table table_ = Table::create({.entries_max = 1'000, .hash_seed = kIdentitySeed}).value();
};

TEST_F(PackedAdversary, fills_two_buckets_and_the_stash_and_harms_no_other_key) {
  const uint64_t slots = uint64_t{2} * kSlotsPerBucket + table_.stats().stash_slots;
  ASSERT_EQ(slots, 32U);
  const std::vector<Mac> keys = keys_of_one_pair(slots + 1);
  for (unsigned round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < slots; ++i) {
      ASSERT_EQ(table_.insert(keys[i], static_cast<uint16_t>(i)), InsertOutcome::kInserted) << i;
      const auto violation = table_.audit();
      ASSERT_FALSE(violation) << violation->what;
    }
    EXPECT_EQ(table_.stats().stashed, table_.stats().stash_slots);
    EXPECT_EQ(table_.insert(keys[slots], 0), InsertOutcome::kFull);
    for (uint64_t i = 0; i < 800; ++i) {
      ASSERT_EQ(table_.insert(Mac::of(i * 0x9E3779B97F4A7C15U >> 16), static_cast<uint16_t>(i)),
                InsertOutcome::kInserted);
    }
    for (uint64_t i = 0; i < slots; ++i) {
      for (uint64_t j = 0; j < slots; ++j)
        ASSERT_EQ(table_.find(keys[j]) != nullptr, j >= i) << "after " << i << " erasures";
      ASSERT_TRUE(table_.erase(keys[i]));
    }
    EXPECT_EQ(table_.stats().stashed, 0U);
    table_.clear();
  }
}

// The remainder of a key in the stash may be another key's too, whose buckets are others.
TEST_F(PackedAdversary, X36_a_key_in_the_stash_is_not_taken_for_one_with_its_remainder) {
  const uint64_t slots = uint64_t{2} * kSlotsPerBucket + 1;
  const std::vector<Mac> keys = keys_of_one_pair(slots);
  for (const Mac& key : keys) ASSERT_EQ(table_.insert(key, 1), InsertOutcome::kInserted);
  ASSERT_EQ(table_.stats().stashed, 1U);
  auto& layout = TableInspector::engine(table_).layout();
  for (const Mac& key : keys) {
    for (uint64_t high = 1; high < 4; ++high) {
      // The lowest 46 bits are the remainder.
      Mac other = key;
      other.bytes[5] = static_cast<uint8_t>(other.bytes[5] | high << 6);
      ASSERT_EQ(layout.tag_of(hash_of(other)), layout.tag_of(hash_of(key)));
      EXPECT_EQ(table_.find(other), nullptr);
      EXPECT_FALSE(table_.erase(other));
      const std::array pair{other, key};
      std::array<uint16_t, 2> values{};
      HitArray<2> hits;
      EXPECT_EQ(table_.lookup(pair, values, hits), 1U);
      EXPECT_FALSE(hits.test(0));
    }
  }
}

// --- What audit() names. ---

class PackedAudit : public testing::Test {
 protected:
  PackedAudit() {
    for (uint64_t i = 0; i < 940; ++i)
      EXPECT_EQ(table_.insert(Mac::of(i), static_cast<uint16_t>(i)), InsertOutcome::kInserted);
    EXPECT_FALSE(table_.audit());
  }

  uint64_t& word_where(bool (*condition)(uint64_t)) {
    for (uint64_t bucket = 0; bucket < table_.bucket_count(); ++bucket) {
      for (uint64_t& word : TableInspector::line(table_, BucketIndex{bucket}).words) {
        if (condition(word)) return word;
      }
    }
    ADD_FAILURE() << "no such word";
    return TableInspector::line(table_, BucketIndex{0}).words[0];
  }
  uint64_t& primary_word() {
    return word_where([](uint64_t word) { return (word & 3) == PackedLine::kBusy; });
  }
  int violated() {
    const auto violation = table_.audit();
    return violation ? violation->invariant : 0;
  }

  MacTable table_ = MacTable::create({.capacity = 1000, .hash_seed = 3}).value();
};

TEST_F(PackedAudit, names_what_is_left_in_a_free_slot_as_I1) {
  word_where([](uint64_t word) { return word == 0; }) = uint64_t{5} << PackedLine::kValueShift;
  EXPECT_EQ(violated(), 1);
}

TEST_F(PackedAudit, names_a_lost_entry_as_I1) {
  primary_word() = 0;
  EXPECT_EQ(violated(), 1);
}

TEST_F(PackedAudit, names_a_key_that_is_there_twice_as_I3) {
  for (uint64_t bucket = 0; bucket < table_.bucket_count(); ++bucket) {
    auto& words = TableInspector::line(table_, BucketIndex{bucket}).words;
    const auto gap = std::ranges::find(words, uint64_t{0});
    if (gap == words.end() || words[0] == 0) continue;
    *gap = words[0] ^ uint64_t { 1 } << PackedLine::kValueShift;
    EXPECT_EQ(violated(), 3);
    return;
  }
  FAIL() << "no line with a free slot";
}

// A mark that is wrong makes another key of the word; what is the same key twice is found.
TEST_F(PackedAudit, names_a_key_that_is_in_both_of_its_buckets_as_I3) {
  const auto& engine = TableInspector::engine(table_);
  for (uint64_t bucket = 0; bucket < table_.bucket_count(); ++bucket) {
    const uint64_t word = TableInspector::line(table_, BucketIndex{bucket}).words[0];
    if ((word & 3) != PackedLine::kBusy) continue;
    const BucketIndex other =
        engine.map().other(BucketIndex{bucket}, PackedLine::remainder_of(word));
    auto& words = TableInspector::line(table_, other).words;
    const auto gap = std::ranges::find(words, uint64_t{0});
    if (gap == words.end()) continue;
    *gap = word | PackedLine::kDisplaced;
    EXPECT_EQ(violated(), 3);
    return;
  }
  FAIL() << "no free slot in another bucket";
}

TEST_F(PackedAudit, a_bucket_in_words_has_keys_and_values) {
  uint64_t bucket = 0;
  while (TableInspector::line(table_, BucketIndex{bucket}).words[0] == 0) ++bucket;
  const std::string words = table_.dump(BucketIndex{bucket});
  EXPECT_NE(words.find(" of 8 slots busy"), std::string::npos) << words;
  EXPECT_NE(words.find("key 00000000"), std::string::npos) << words;
}

}  // namespace
}  // namespace roost
