// What every contestant must pass before it may be measured.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/harness/contestant.h"
#include "lab/harness/drive.h"
#include "lab/harness/workload.h"
#include "roost/memory/pages_behind.h"

namespace roost::lab {

inline constexpr uint64_t kCheckedSlots = uint64_t{1} << 16;
inline constexpr uint64_t kCheckedEntries = kCheckedSlots / 10 * 8;

struct CheckedSize {
  uint64_t bytes_an_entry_max;
  size_t lanes_max = kLanesMax;
};

// The keys of the check.
template <class Table>
traffic::KeySource checked_keys() {
  constexpr size_t kBytes = sizeof(KeyOf<Table>);
  return traffic::KeySource(3, kBytes == sizeof(Key)              ? 128
                               : kBytes == sizeof(traffic::Key48) ? 48
                                                                  : 104);
}

template <Contestant Table>
void fill(Table& table) {
  using KeyType = KeyOf<Table>;
  const traffic::KeySource keys = checked_keys<Table>();
  std::vector<KeyType> batch;
  std::vector<ValueOf<Table>> values;
  for (uint64_t index = 0; index < kCheckedEntries; ++index) {
    const auto key = traffic::narrowed<KeyType>(keys.inserted(index));
    const auto value = value_of<ValueOf<Table>>(key);
    if constexpr (BatchInserting<Table>) {
      batch.push_back(key);
      values.push_back(value);
      // Calls of every size, as far as there are keys.
      if (batch.size() <= index % kLanesMax && index + 1 < kCheckedEntries) continue;
      ASSERT_EQ(
          table.insert(std::span<const KeyType>(batch), std::span<const ValueOf<Table>>(values)),
          batch.size());
      batch.clear();
      values.clear();
    } else {
      ASSERT_TRUE(table.insert(key, value)) << "full after " << index;
    }
  }
}

template <Checkable View>
void check_answers(View& view, size_t lanes_max) {
  for (const double miss_ratio : {0.0, 0.5, 1.0}) {
    const Stream queries(traffic::query_stream(
        checked_keys<View>(),
        {.entry_count = kCheckedEntries, .query_count = 10'001, .miss_ratio = miss_ratio}));
    const auto stream = queries.as<KeyOf<View>>();
    for (const size_t lanes : {size_t{1}, size_t{32}, lanes_max}) {
      EXPECT_EQ(first_wrong_answer(view, stream, lanes), std::nullopt) << "misses " << miss_ratio;
      EXPECT_EQ(drive(view, stream, lanes), expected_outcome<ValueOf<View>>(stream));
    }
  }
}

// Whether a wrong answer to this one query is noticed, by the check and by a timed pass.
template <Checkable View>
void expect_refused(View& view, const KeyOf<View>& key) {
  const std::span<const KeyOf<View>> query(&key, 1);
  EXPECT_NE(first_wrong_answer(view, query, 1), std::nullopt);
  EXPECT_NE(drive(view, query, 1), expected_outcome<ValueOf<View>>(query));
}

// A value that is another one, a key too many, a key too few.
template <Contestant Table>
void check_faults_are_noticed(Table& table) {
  using KeyType = KeyOf<Table>;
  const traffic::KeySource keys = checked_keys<Table>();
  const auto key = traffic::narrowed<KeyType>(keys.inserted(1));
  const auto other = traffic::narrowed<KeyType>(keys.inserted(2));
  const auto absent = traffic::narrowed<KeyType>(keys.absent(1));
  ASSERT_TRUE(table.insert(key, value_of<ValueOf<Table>>(other)));
  expect_refused(table, key);
  ASSERT_TRUE(table.insert(absent, value_of<ValueOf<Table>>(absent)));
  expect_refused(table, absent);
  if constexpr (Erasing<Table>) {
    EXPECT_TRUE(table.erase(other));
    EXPECT_FALSE(table.erase(other));
    expect_refused(table, other);
  }
}

// Neither far less than keys and values take nor far more, on the pages asked for.
template <Contestant Table>
void check_memory(Table& table, uint64_t bytes_an_entry_max) {
  const uint64_t bytes = table.memory_bytes();
  EXPECT_GT(bytes, kCheckedEntries * (sizeof(KeyOf<Table>) + sizeof(typename Table::Answer)));
  EXPECT_LT(bytes, kCheckedEntries * bytes_an_entry_max + (uint64_t{2} << 20));
  const FewestLines lines = table.fewest_lines();
  EXPECT_GE(lines.first_bytes, kCheckedSlots / 4);
  EXPECT_LE(lines.first_bytes + lines.second_bytes, bytes);
  const auto key = traffic::narrowed<KeyOf<Table>>(checked_keys<Table>().inserted(0));
  const auto pages = read_pages(table.entry_address(key));
  ASSERT_TRUE(pages.has_value());
  EXPECT_EQ(pages->page_bytes, 4096U);
}

// Fills a contestant and asks it in calls of 1, 32 and `lanes_max` keys; once more after clearing.
template <Contestant Table>
void check_contestant(const CheckedSize& size) {
  Result<Table> made = Table::create(kCheckedSlots, PageKind::kSmall);
  ASSERT_TRUE(made.ok()) << made.error().message;
  Table& table = made.value();
  fill(table);
  check_answers(table, size.lanes_max);
  check_memory(table, size.bytes_an_entry_max);
  if constexpr (HasAheadView<Table>) {
    typename Table::Ahead ahead(table);
    check_answers(ahead, size.lanes_max);
  }
  if constexpr (Clearable<Table>) {
    table.clear();
    expect_refused(table, traffic::narrowed<KeyOf<Table>>(checked_keys<Table>().inserted(0)));
    fill(table);
    check_answers(table, size.lanes_max);
  }
  if constexpr (Sharing<Table>) {
    Table reader = table.reader();
    check_answers(reader, size.lanes_max);
  }
  if constexpr (Auditing<Table>) {
    EXPECT_EQ(table.audit(), std::nullopt);
  }
  check_faults_are_noticed(table);
}

}  // namespace roost::lab
