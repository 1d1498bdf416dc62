// The published forwarding table: right as a contestant, and while a writer changes it. A planted
// fault, counters that tell readers nothing, is seen by the same test.

#include "lab/contestants/cuckoo_switch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "lab/tests/contestant_check.h"

namespace roost::lab {
namespace {

template <class Rung>
class Rungs : public testing::Test {};

using AllRungs = testing::Types<BaselineRung, PagesRung, OrderRung, BatchRung, PublishedRung>;
TYPED_TEST_SUITE(Rungs, AllRungs);

TYPED_TEST(Rungs, hold_what_they_are_given_and_nothing_else) {
  check_contestant<CuckooSwitch<TypeParam>>({.bytes_an_entry_max = 12});
}

TYPED_TEST(Rungs, refuse_a_key_of_zero_which_is_in_no_table) {
  auto table = CuckooSwitch<TypeParam>::create(64, PageKind::kSmall);
  ASSERT_TRUE(table.ok());
  EXPECT_FALSE(table.value().insert({0}, {7}));
  EXPECT_FALSE(table.value().erase({0}));
  std::array<traffic::Value16, 1> answers{};
  HitArray<1> hits;
  table.value().lookup(std::array{traffic::Key48{0}}, answers, hits);
  EXPECT_FALSE(hits.test(0));
}

TYPED_TEST(Rungs, fill_to_95_percent) {
  constexpr uint64_t kSlots = 1 << 14;
  auto table = CuckooSwitch<TypeParam>::create(kSlots, PageKind::kSmall);
  ASSERT_TRUE(table.ok());
  const traffic::KeySource keys(9, 48);
  for (uint64_t index = 0; index < kSlots / 100 * 95; ++index) {
    const auto key = traffic::narrowed<traffic::Key48>(keys.inserted(index));
    ASSERT_TRUE(table.value().insert(key, value_of<traffic::Value16>(key))) << index;
  }
  EXPECT_EQ(table.value().audit(), std::nullopt);
}

// Between any two words that a reader loads, the test may change the table.
struct Interposed : AcquireRelease {
  static inline std::function<void()> between;
  [[nodiscard]] static uint64_t load(const uint64_t& word) {
    if (between) {
      const auto once = std::exchange(between, nullptr);  // what it does is not interrupted
      once();
      between = once;
    }
    return AcquireRelease::load(word);
  }
};
struct Blind : Interposed {
  [[nodiscard]] static uint32_t read(VersionCounter&) { return 0; }
};
template <class Rung, class OrderT>
struct With : Rung {
  using Order = OrderT;
};

traffic::Key48 key_of(uint64_t index) {
  return traffic::narrowed<traffic::Key48>(traffic::KeySource(5, 48).inserted(index));
}

// Keys that stay, in a table so full that every arrival moves some of them.
constexpr uint64_t kSlots = 64;
constexpr uint64_t kStaying = 52;
constexpr uint64_t kPassing = 16;

template <class Table>
void fill_with_staying(Table& table) {
  for (uint64_t index = 0; index < kStaying; ++index)
    ASSERT_TRUE(table.insert(key_of(index), value_of<traffic::Value16>(key_of(index))));
}

// One passing key arrives, or leaves if it was there.
template <class Table>
void change_one(Table& table, traffic::Draw& draw) {
  const auto key = key_of(kStaying + draw.below(kPassing));
  if (!table.erase(key)) static_cast<void>(table.insert(key, value_of<traffic::Value16>(key)));
}

// Lookups of staying keys that did not find them with their values.
template <class Table>
uint64_t wrong_lookups(const Table& table, uint64_t calls) {
  constexpr size_t kLanes = 14;
  traffic::Draw draw(11);
  uint64_t wrong = 0;
  for (uint64_t call = 0; call < calls; ++call) {
    std::array<traffic::Key48, kLanes> keys;
    for (auto& key : keys) key = key_of(draw.below(kStaying));
    std::array<traffic::Value16, kLanes> answers{};
    HitArray<kLanes> hits;
    table.lookup(keys, answers, hits);
    for (size_t lane = 0; lane < kLanes; ++lane)
      wrong += !hits.test(lane) || answers[lane] != value_of<traffic::Value16>(keys[lane]);
  }
  return wrong;
}

template <class Rung, class OrderT>
uint64_t wrong_between_words() {
  auto made = CuckooSwitch<With<Rung, OrderT>>::create(kSlots, PageKind::kSmall);
  auto& table = made.value();
  fill_with_staying(table);
  traffic::Draw draw(7);
  Interposed::between = [&] {
    if (draw.below(100) == 0) change_one(table, draw);
  };
  const uint64_t wrong = wrong_lookups(table, 5'000);
  Interposed::between = nullptr;
  EXPECT_GT(table.stats().kicks, 100U);
  EXPECT_EQ(table.audit(), std::nullopt);
  return wrong;
}

TYPED_TEST(Rungs, answer_right_whatever_changes_between_two_words) {
  EXPECT_EQ((wrong_between_words<TypeParam, Interposed>()), 0U);
}

TYPED_TEST(Rungs, are_seen_answering_wrong_where_counters_say_nothing) {
  EXPECT_GT((wrong_between_words<TypeParam, Blind>()), 10U);
}

TYPED_TEST(Rungs, answer_right_beside_a_writer) {
  auto made = CuckooSwitch<TypeParam>::create(kSlots, PageKind::kSmall);
  ASSERT_TRUE(made.ok());
  auto& table = made.value();
  fill_with_staying(table);
  std::atomic<bool> is_over = false;
  std::jthread writer([&] {
    auto mine = table.reader();
    traffic::Draw draw(13);
    while (!is_over) {
      change_one(mine, draw);
      for (unsigned turn = 0; turn < 20; ++turn) std::this_thread::yield();
    }
  });
  const uint64_t wrong = wrong_lookups(table.reader(), 100'000);
  is_over = true;
  writer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(table.audit(), std::nullopt);
}

}  // namespace
}  // namespace roost::lab
