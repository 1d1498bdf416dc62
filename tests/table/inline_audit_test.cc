// Inline tables whose lines are broken by hand, and counts that reach their field's end: each
// invariant is named by audit(), and no key is lost.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

// Keys of 13 bytes that begin with their hash (FirstWordHash): tests choose bucket and tag.
struct ChosenKey {
  std::array<uint8_t, 13> bytes;
};

template <class HashT>
struct Policies : DefaultPolicies {
  using Hash = HashT;
  using Expiry = SlotTimers;
  static constexpr LayoutChoice kLayout = LayoutChoice::kInline;
};

template <class ValueT>
struct InlineAudit : testing::Test {
  using TableType = FlowTable<ByteKey<13>, ValueT, Policies<TestHash>>;
  using ChosenTable = FlowTable<ChosenKey, ValueT, Policies<FirstWordHash>>;
  static constexpr unsigned kSlots = sizeof(ValueT) == 16 ? 2 : 3;
  static constexpr uint64_t kEntries = sizeof(ValueT) == 16 ? 500 : 540;

  InlineAudit() {
    for (uint64_t i = 0; i < kEntries; ++i) {
      EXPECT_EQ(table_.insert(ByteKey<13>::of(i), ValueT::of(i)), InsertOutcome::kInserted);
    }
    EXPECT_FALSE(table_.audit());
  }

  template <class Condition>
  SlotRef slot_where(Condition&& condition) {
    for (uint64_t bucket = 0; bucket < table_.bucket_count(); ++bucket) {
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        const auto& line = TableInspector::line(table_, BucketIndex{bucket});
        if (condition(line, slot)) return {BucketIndex{bucket}, slot};
      }
    }
    ADD_FAILURE() << "no such slot";
    return {};
  }
  SlotRef primary_slot() {
    return slot_where([](const auto& line, unsigned slot) {
      return (busy_slots(line) - displaced_slots(line)).has(slot);
    });
  }
  SlotRef free_slot() {
    return slot_where([](const auto& line, unsigned slot) { return !busy_slots(line).has(slot); });
  }
  auto& line(BucketIndex bucket) { return TableInspector::line(table_, bucket); }
  auto& moved_line() {
    return line(slot_where([](const auto& line, unsigned) { return line.moved != 0; }).bucket);
  }
  auto& layout() { return TableInspector::engine(table_).layout(); }
  int violated() {
    const auto violation = table_.audit();
    return violation ? violation->invariant : 0;
  }

  // A key of a table with FirstWordHash: the top bits choose the bucket, the low 16 are the tag.
  static ChosenKey chosen(const ChosenTable& table, uint64_t bucket, uint16_t tag, uint32_t rest) {
    const uint64_t n = table.bucket_count();
    const uint64_t word = ((~uint64_t{0} / n * bucket + n * 2) & ~uint64_t{0xFFFF}) + 0x10000 + tag;
    EXPECT_EQ(BucketMap(n).primary(Hash64{word}), BucketIndex{bucket});
    ChosenKey key{};
    std::memcpy(key.bytes.data(), &word, sizeof(word));
    std::memcpy(key.bytes.data() + 8, &rest, sizeof(rest));
    return key;
  }

  TableType table_ = TableType::create({.capacity = 600, .hash_seed = 3}).value();
};
using BothSizes = testing::Types<Value<16>, Value<4>>;
TYPED_TEST_SUITE(InlineAudit, BothSizes, );

TYPED_TEST(InlineAudit, names_marks_on_slots_that_are_free_or_not_there_as_I1) {
  const SlotRef at = this->free_slot();
  auto& line = this->line(at.bucket);
  line.set_displaced(displaced_slots(line) | SlotMask::of(at.slot));
  EXPECT_EQ(this->violated(), 1);
}

TYPED_TEST(InlineAudit, names_a_wrong_displaced_mark_as_I2) {
  const SlotRef at = this->primary_slot();
  auto& line = this->line(at.bucket);
  line.set_displaced(displaced_slots(line) | SlotMask::of(at.slot));
  EXPECT_EQ(this->violated(), 2);
}

TYPED_TEST(InlineAudit, names_a_changed_key_as_I2) {
  const SlotRef at = this->primary_slot();
  *const_cast<std::byte*>(this->layout().key(at)) ^= std::byte{1};
  EXPECT_EQ(this->violated(), 2);
}

TYPED_TEST(InlineAudit, names_a_duplicate_key_as_I3) {
  const SlotRef gap = this->slot_where([](const auto& line, unsigned slot) {
    return !busy_slots(line).has(slot) && busy_slots(line) != displaced_slots(line);
  });
  auto& line = this->line(gap.bucket);
  const unsigned original = (busy_slots(line) - displaced_slots(line)).lowest();
  this->layout().place_copy(gap, {Tag{}, false}, {gap.bucket, original});
  EXPECT_EQ(this->violated(), 3);
}

TYPED_TEST(InlineAudit, names_a_wrong_moved_count_as_I4) {
  auto& line = this->moved_line();
  line.set_moved(line.moved + 1U);
  EXPECT_EQ(this->violated(), 4);
}

TYPED_TEST(InlineAudit, names_a_missing_filter_bit_as_I5) {
  auto& line = this->moved_line();
  line.set_filter(line.filter & (line.filter - 1U));
  EXPECT_EQ(this->violated(), 5);
}

TYPED_TEST(InlineAudit, names_a_filter_that_outlived_its_entries_as_I5) {
  auto& line = this->line(
      this->slot_where([](const auto& other, unsigned) { return other.moved == 0; }).bucket);
  line.set_filter(1);
  EXPECT_EQ(this->violated(), 5);
}

TYPED_TEST(InlineAudit, names_a_stash_mark_without_an_entry_as_I8) {
  this->line(BucketIndex{0}).has_stashed = 1;
  EXPECT_EQ(this->violated(), 8);
}

TYPED_TEST(InlineAudit, X28_a_saturated_moved_count_sticks_and_loses_no_key) {
  using Chosen = typename TestFixture::ChosenTable;
  Chosen table = Chosen::create({.capacity = 60'000}).value();
  const auto& line = TableInspector::line(table, BucketIndex{6});
  const unsigned saturated = line.kMovedSaturated;
  std::vector<ChosenKey> keys;
  for (uint32_t i = 0; i < 100; ++i) {
    keys.push_back(TestFixture::chosen(table, 6, static_cast<uint16_t>(i * 7919), i));
    ASSERT_EQ(table.insert(keys.back(), TypeParam::of(i)), InsertOutcome::kInserted);
  }
  // With three slots a line, more keys than the 64 functions can displace would be needed.
  const bool is_saturated = TestFixture::kSlots == 2;
  EXPECT_EQ(unsigned{line.moved}, is_saturated ? saturated : 100 - TestFixture::kSlots);
  EXPECT_FALSE(table.audit());
  while (keys.size() > 10) {
    ASSERT_TRUE(table.erase(keys.back()));
    keys.pop_back();
    ASSERT_FALSE(table.audit()) << keys.size();
  }
  EXPECT_EQ(unsigned{line.moved} == saturated, is_saturated);
  for (const ChosenKey& key : keys) ASSERT_NE(table.find(key), nullptr);
  table.clear();
  EXPECT_EQ(unsigned{line.moved}, 0U);
  EXPECT_FALSE(table.audit());
}

// Keys of one bucket pair: two buckets and the stash take them, and every lookup finds them.
TYPED_TEST(InlineAudit, keys_of_one_bucket_pair_go_to_the_stash_and_leave_no_mark) {
  using Table = typename TestFixture::TableType;
  Table table = Table::create({.entries_max = 1000, .hash_seed = kConstantSeed}).value();
  const uint64_t slots = 2 * TestFixture::kSlots + table.stats().stash_slots;
  EXPECT_EQ(table.stats().stash_slots, 48U);
  for (unsigned round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < slots; ++i) {
      ASSERT_EQ(table.insert(ByteKey<13>::of(i), TypeParam::of(i)), InsertOutcome::kInserted) << i;
      ASSERT_FALSE(table.audit()) << table.audit()->what;
    }
    EXPECT_EQ(table.insert(ByteKey<13>::of(slots), TypeParam::of(0)), InsertOutcome::kFull);
    for (uint64_t i = 0; i < slots; ++i) {
      for (uint64_t j = 0; j < slots; ++j)
        ASSERT_EQ(table.find(ByteKey<13>::of(j)) != nullptr, j >= i);
      ASSERT_TRUE(table.erase(ByteKey<13>::of(i)));
      ASSERT_FALSE(table.audit()) << table.audit()->what;
    }
    EXPECT_EQ(table.stats().stashed, 0U);
  }
}

TYPED_TEST(InlineAudit, a_bucket_in_words_has_the_tags_of_its_keys) {
  const SlotRef at = this->primary_slot();
  const std::string words = this->table_.dump(at.bucket);
  EXPECT_NE(words.find(" of " + std::to_string(TestFixture::kSlots) + " slots busy"),
            std::string::npos);
  EXPECT_NE(words.find("  tag 0x"), std::string::npos);
  EXPECT_NE(words.find("a5a5a5a5a5"), std::string::npos) << "the key in full: " << words;
}

}  // namespace
}  // namespace roost
