// Each invariant, broken by hand, is named by audit().
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "roost/table/flow_table.h"
#include "tests/table/table_inspector.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

struct Policies : DefaultPolicies {
  using Expiry = SlotTimers;
};
using Table = FlowTable<Key16, uint64_t, Policies>;

// A table so full that many entries are displaced.
class AuditTest : public testing::Test {
 protected:
  AuditTest() {
    for (uint64_t i = 0; i < 950; ++i) {
      EXPECT_NE(table_.insert(Key16::of(i), i), InsertOutcome::kFull);
    }
    EXPECT_FALSE(table_.audit());
  }

  // A slot that fulfils a condition.
  template <class Condition>
  SlotRef slot_where(Condition&& condition) {
    for (uint64_t bucket = 0; bucket < table_.bucket_count(); ++bucket) {
      for (unsigned slot = 0; slot < kSlotsPerBucket; ++slot) {
        if (condition(line(BucketIndex{bucket}), slot)) return {BucketIndex{bucket}, slot};
      }
    }
    ADD_FAILURE() << "no such slot";
    return {};
  }
  SlotRef displaced_slot() {
    return slot_where(
        [](const TagLine& line, unsigned slot) { return displaced_slots(line).has(slot); });
  }
  SlotRef primary_slot() {
    return slot_where([](const TagLine& line, unsigned slot) {
      return (busy_slots(line) - displaced_slots(line)).has(slot);
    });
  }
  SlotRef free_slot() {
    return slot_where(
        [](const TagLine& line, unsigned slot) { return !busy_slots(line).has(slot); });
  }
  BucketIndex bucket_with_moved() {
    return slot_where([](const TagLine& line, unsigned) { return line.moved != 0; }).bucket;
  }

  TagLine& line(BucketIndex bucket) { return TableInspector::line(table_, bucket); }
  auto& layout() { return TableInspector::engine(table_).layout(); }
  int violated() {
    const auto violation = table_.audit();
    return violation ? violation->invariant : 0;
  }

  Table table_ = Table::create({.capacity = 1024, .hash_seed = 3}).value();
};

TEST_F(AuditTest, names_a_wrong_size_as_I1) {
  ++TableInspector::stats(table_).size;
  EXPECT_EQ(violated(), 1);
}

TEST_F(AuditTest, names_a_displaced_mark_on_a_free_slot_as_I1) {
  const SlotRef at = free_slot();
  line(at.bucket).set_displaced(displaced_slots(line(at.bucket)) | SlotMask::of(at.slot));
  EXPECT_EQ(violated(), 1);
}

TEST_F(AuditTest, names_a_wrong_tag_as_I2) {
  const SlotRef at = primary_slot();
  line(at.bucket).tags[at.slot] ^= 1;
  EXPECT_EQ(violated(), 2);
}

TEST_F(AuditTest, names_a_wrong_displaced_mark_as_I2) {
  const SlotRef at = primary_slot();
  line(at.bucket).set_displaced(displaced_slots(line(at.bucket)) | SlotMask::of(at.slot));
  EXPECT_EQ(violated(), 2);
}

TEST_F(AuditTest, names_an_entry_in_a_foreign_bucket_as_I2) {
  const SlotRef from = primary_slot();
  const BucketIndex foreign{(static_cast<uint64_t>(from.bucket) + 2) % table_.bucket_count()};
  layout().vacate({foreign, 0});
  layout().place_copy({foreign, 0}, {Tag{line(from.bucket).tags[from.slot]}, false}, from);
  EXPECT_EQ(violated(), 2);
}

TEST_F(AuditTest, names_a_duplicate_key_as_I3) {
  // A second copy in a free slot of the same bucket.
  const SlotRef gap = slot_where([](const TagLine& line, unsigned slot) {
    return !busy_slots(line).has(slot) && busy_slots(line) != displaced_slots(line);
  });
  TagLine& where = line(gap.bucket);
  const unsigned original = (busy_slots(where) - displaced_slots(where)).lowest();
  layout().place_copy(gap, {Tag{where.tags[original]}, false}, {gap.bucket, original});
  EXPECT_EQ(violated(), 3);
}

TEST_F(AuditTest, names_a_wrong_moved_count_as_I4) {
  ++line(bucket_with_moved()).moved;
  EXPECT_EQ(violated(), 4);
}

TEST_F(AuditTest, names_a_missing_filter_bit_as_I5) {
  TagLine& where = line(bucket_with_moved());
  where.filter &= where.filter - 1;
  EXPECT_EQ(violated(), 5);
}

TEST_F(AuditTest, names_a_filter_that_outlived_its_entries_as_I5) {
  line(slot_where([](const TagLine& line, unsigned) { return line.moved == 0; }).bucket).filter = 1;
  EXPECT_EQ(violated(), 5);
}

TEST_F(AuditTest, names_a_wrong_histogram_as_I6) {
  ++TableInspector::stats(table_).moved_histogram[3];
  EXPECT_EQ(violated(), 6);
}

TEST_F(AuditTest, names_an_open_account_as_I7) {
  ++TableInspector::stats(table_).expired;
  EXPECT_EQ(violated(), 7);
}

}  // namespace
}  // namespace roost
