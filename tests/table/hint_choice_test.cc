// Where lookups prefetch lines to: the hint whose lookups take least, found again when that
// changes. The times are made up, but for the last tests', which look up in a table.
#include "roost/table/hint_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {
namespace {

constexpr size_t kLanes = 256;
constexpr uint64_t kLanesOfRound = HintChoice::kTurns * kPrefetchHints.size() *
                                   (HintChoice::kSettlingLanes + HintChoice::kTimedLanes);

// Nanoseconds a key, by hint.
using Machine = std::array<int64_t, kPrefetchHints.size()>;

size_t place_of(PrefetchHint hint) { return static_cast<size_t>(hint); }

Machine fastest_by(PrefetchHint hint) {
  Machine machine = {40, 40, 40};
  machine[place_of(hint)] = 20;
  return machine;
}

// Looks up by calls of kLanes keys.
void look_up(HintChoice& choice, const Machine& machine, uint64_t lane_count) {
  for (uint64_t lanes = 0; lanes < lane_count; lanes += kLanes)
    choice.note(kLanes, HintChoice::Time(machine[place_of(choice.hint(kLanes))] * int64_t{kLanes}));
}

TEST(HintChoice, is_the_one_whose_lookups_take_least) {
  for (const PrefetchHint first : kPrefetchHints) {
    for (const PrefetchHint fastest : kPrefetchHints) {
      HintChoice choice(first, {});
      EXPECT_EQ(choice.chosen(), first);
      look_up(choice, fastest_by(fastest), kLanesOfRound);
      EXPECT_EQ(choice.round_count(), 1U);
      EXPECT_EQ(choice.chosen(), fastest);
      EXPECT_EQ(choice.hint(kLanes), fastest) << "which is used from now on";
    }
  }
}

TEST(HintChoice, gives_each_hint_the_same_share_of_a_round) {
  HintChoice choice(PrefetchHint::kT1, {});
  std::array<uint64_t, kPrefetchHints.size()> timed{};
  std::array<uint64_t, kPrefetchHints.size()> settling{};
  for (uint64_t lanes = 0; lanes < kLanesOfRound; lanes += kLanes) {
    (choice.is_timing() ? timed : settling)[place_of(choice.hint(kLanes))] += kLanes;
    choice.note(kLanes, HintChoice::Time(1));
  }
  for (const PrefetchHint hint : kPrefetchHints) {
    EXPECT_EQ(timed[place_of(hint)], HintChoice::kTurns * HintChoice::kTimedLanes);
    EXPECT_EQ(settling[place_of(hint)], HintChoice::kTurns * HintChoice::kSettlingLanes);
  }
}

TEST(HintChoice, does_not_count_what_the_caches_take_to_settle) {
  HintChoice choice(PrefetchHint::kT0, {});
  while (choice.round_count() == 0) {
    const bool is_fastest = choice.hint(kLanes) == PrefetchHint::kNta;
    choice.note(kLanes, HintChoice::Time(choice.is_timing() == is_fastest ? 1000 : 9000));
  }
  EXPECT_EQ(choice.chosen(), PrefetchHint::kNta);
}

TEST(HintChoice, forgives_each_hint_two_interruptions) {
  HintChoice choice(PrefetchHint::kT0, {});
  uint64_t lanes = 0;
  const uint64_t one_turn = kLanesOfRound / HintChoice::kTurns;
  for (; choice.round_count() == 0; lanes += kLanes) {
    const bool is_disturbed = lanes / one_turn != 1;  // but for the second turn
    const bool is_fastest = choice.hint(kLanes) == PrefetchHint::kT1;
    choice.note(kLanes, HintChoice::Time(!is_fastest ? 5000 : is_disturbed ? 90'000 : 4000));
  }
  EXPECT_EQ(choice.chosen(), PrefetchHint::kT1);
}

TEST(HintChoice, stays_unless_another_is_clearly_faster) {
  HintChoice choice(PrefetchHint::kT0, {});
  look_up(choice, {1000, 980, 990}, kLanesOfRound);
  EXPECT_EQ(choice.chosen(), PrefetchHint::kT0);
  look_up(choice, {1000, 960, 990}, HintChoice::kPauseLanesMin + kLanesOfRound);
  EXPECT_EQ(choice.round_count(), 2U);
  EXPECT_EQ(choice.chosen(), PrefetchHint::kT1);
}

TEST(HintChoice, is_made_anew_after_pauses_that_double_up_to_a_limit) {
  HintChoice choice(PrefetchHint::kT1, {});
  uint64_t pause = HintChoice::kPauseLanesMin;
  for (unsigned round = 0; round < 8; ++round) {
    const PrefetchHint fastest = kPrefetchHints[round % kPrefetchHints.size()];
    look_up(choice, fastest_by(fastest), kLanesOfRound);
    EXPECT_EQ(choice.chosen(), fastest);
    ASSERT_EQ(choice.round_count(), round + 1);
    const PrefetchHint other = kPrefetchHints[(round + 1) % kPrefetchHints.size()];
    look_up(choice, fastest_by(other), pause);
    EXPECT_EQ(choice.chosen(), fastest) << "nothing is tried in a pause";
    ASSERT_EQ(choice.round_count(), round + 1);
    pause = std::min(2 * pause, HintChoice::kPauseLanesMax);
  }
  EXPECT_EQ(pause, HintChoice::kPauseLanesMax);
}

TEST(HintChoice, calls_of_few_keys_neither_count_nor_try) {
  constexpr size_t kFew = HintChoice::kLanesMin - 1;
  HintChoice choice(PrefetchHint::kNta, {});
  EXPECT_NE(choice.hint(HintChoice::kLanesMin), PrefetchHint::kNta) << "the first that is tried";
  EXPECT_EQ(choice.hint(kFew), PrefetchHint::kNta);
  for (uint64_t lanes = 0; lanes < 2 * kLanesOfRound; lanes += kFew)
    choice.note(kFew, HintChoice::Time(1));
  EXPECT_EQ(choice.round_count(), 0U);
  EXPECT_FALSE(choice.is_timing());
}

TEST(HintChoice, a_forced_one_stays_and_nothing_is_timed) {
  for (const PrefetchHint forced : kPrefetchHints) {
    HintChoice choice(PrefetchHint::kT1, forced);
    for (uint64_t lanes = 0; lanes < 4 * kLanesOfRound; lanes += kLanes) {
      ASSERT_EQ(choice.hint(kLanes), forced);
      ASSERT_EQ(choice.hint(1), forced);
      ASSERT_FALSE(choice.is_timing());
      choice.note(kLanes, HintChoice::Time(1));
    }
    EXPECT_EQ(choice.round_count(), 0U);
  }
}

TEST(HintChoice, changes_stay_with_the_hint_that_they_begin_with) {
  HintChoice choice(PrefetchHint::kT1, {});
  look_up(choice, fastest_by(PrefetchHint::kNta), kLanesOfRound);
  ASSERT_EQ(choice.chosen(), PrefetchHint::kNta);
  EXPECT_EQ(choice.for_changes(), PrefetchHint::kT1);
  EXPECT_EQ(HintChoice(PrefetchHint::kT1, PrefetchHint::kNta).for_changes(), PrefetchHint::kNta);
}

// A table of even numbers, asked for all of them and their successors.
class HintedTable : public ::testing::Test {
 protected:
  using Table = FlowTable<Key16, uint64_t>;
  static constexpr uint64_t kEntries = 40'000;

  void SetUp() override {
    for (uint64_t n = 0; n < kEntries; ++n) keys_.push_back(Key16::of(n));
  }

  Table filled(std::optional<PrefetchHint> forced = {}) {
    Table table = Table::create({.capacity = 65'536, .hash_seed = 1, .line_hint = forced}).value();
    for (uint64_t n = 0; n < kEntries; n += 2)
      EXPECT_EQ(table.insert(keys_[n], n), InsertOutcome::kInserted);
    return table;
  }

  // Looks every key up so many times, and checks the answers.
  void look_up(const Table& table, unsigned times) {
    std::array<uint64_t, kLanes> values{};
    HitArray<kLanes> hits;
    for (unsigned time = 0; time < times; ++time) {
      for (size_t first = 0; first < kEntries; first += kLanes) {
        const size_t count = std::min(kLanes, kEntries - first);
        ASSERT_EQ(table.lookup(std::span<const Key16>(keys_).subspan(first, count),
                               std::span(values), hits),
                  (count + 1) / 2);
        for (size_t lane = 0; lane < count; ++lane) {
          ASSERT_EQ(hits.test(lane), lane % 2 == 0);
          if (hits.test(lane)) {
            ASSERT_EQ(values[lane], first + lane);
          }
        }
      }
    }
  }

  std::vector<Key16> keys_;
};

TEST_F(HintedTable, tries_all_hints_by_its_lookups_and_says_so) {
  Table table = filled();
  EXPECT_EQ(table.stats().hint_rounds, 0U);
  EXPECT_EQ(table.stats().line_hint, PrefetchHint::kT0) << "its lines are few";
  look_up(table, 1 + static_cast<unsigned>(kLanesOfRound / kEntries));
  EXPECT_EQ(table.stats().hint_rounds, 1U);
  EXPECT_EQ(table.stats().line_hint, table.hint_choice().chosen());
}

TEST_F(HintedTable, keeps_a_hint_that_it_was_told) {
  for (const PrefetchHint forced : kPrefetchHints) {
    Table table = filled(forced);
    look_up(table, 1 + static_cast<unsigned>(kLanesOfRound / kEntries));
    EXPECT_EQ(table.stats().line_hint, forced);
    EXPECT_EQ(table.stats().hint_rounds, 0U);
  }
}

TEST_F(HintedTable, may_be_told_later) {
  Table table = filled();
  table.hint_choice() = HintChoice(PrefetchHint::kT1, PrefetchHint::kNta);
  look_up(table, 1);
  EXPECT_EQ(table.stats().line_hint, PrefetchHint::kNta);
}

}  // namespace
}  // namespace roost
