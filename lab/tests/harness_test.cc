// The harness itself: what it accepts as a right answer, what it counts, what it reads of the
// machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "lab/contestants/two_line_ceiling.h"
#include "lab/harness/drive.h"
#include "lab/harness/rounds.h"
#include "lab/harness/workload.h"

namespace roost::lab {
namespace {

constexpr uint64_t kEntries = 1000;

// A table that answers right, with a fault to plant on one key.
struct Liar {
  static constexpr std::string_view kName = "liar";
  using Answer = Value;
  enum class Fault { kNone, kMisses, kInvents, kWrongValue };

  Fault fault = Fault::kNone;
  Key victim{};

  void lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits) const {
    hits.clear(keys.size());
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const bool is_victim = fault != Fault::kNone && keys[lane] == victim;
      if (is_inserted_key(keys[lane]) ? !(is_victim && fault == Fault::kMisses)
                                      : is_victim && fault == Fault::kInvents) {
        hits.set(lane);
        answers[lane] = value_of(keys[lane]);
        if (is_victim && fault == Fault::kWrongValue) answers[lane].words[1] ^= 1;
      }
    }
  }
  static bool is_answer(const Value& answer, const Value& value) { return answer == value; }
  static uint64_t answer_word(const Value& answer) { return answer.words[0]; }
};

std::vector<Key> half_missing_stream() {
  return Workload(7).stream({.entry_count = kEntries, .lookup_count = 1001, .miss_ratio = 0.5});
}

Key first_key(const std::vector<Key>& stream, bool is_inserted) {
  return *std::find_if(stream.begin(), stream.end(), [is_inserted](const Key& key) {
    return is_inserted_key(key) == is_inserted;
  });
}

TEST(Workload, inserted_and_absent_keys_are_distinct) {
  const Workload workload(1);
  std::set<std::array<uint64_t, 2>> seen;
  for (uint64_t index = 0; index < kEntries; ++index) {
    EXPECT_TRUE(is_inserted_key(workload.inserted_key(index)));
    EXPECT_FALSE(is_inserted_key(workload.absent_key(index)));
    seen.insert(workload.inserted_key(index).words);
    seen.insert(workload.absent_key(index).words);
  }
  EXPECT_EQ(seen.size(), 2 * kEntries);
}

TEST(Workload, a_stream_has_its_share_of_misses_at_mixed_positions) {
  const std::vector<Key> stream = half_missing_stream();
  const auto misses_to = [&stream](size_t past) {
    return std::count_if(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(past),
                         [](const Key& key) { return !is_inserted_key(key); });
  };
  EXPECT_EQ(misses_to(1001), 501);
  EXPECT_GT(misses_to(500), 200);
  EXPECT_LT(misses_to(500), 300);
}

TEST(Workload, a_seed_gives_the_same_stream_again_and_another_seed_another) {
  EXPECT_EQ(half_missing_stream(), half_missing_stream());
  EXPECT_NE(Workload(8).inserted_key(0), Workload(7).inserted_key(0));
  EXPECT_NE(Workload(8).absent_key(0), Workload(7).absent_key(0));
  const Workload other(8);
  EXPECT_NE(other.stream({.entry_count = kEntries, .lookup_count = 1001, .miss_ratio = 0.5}),
            half_missing_stream());
}

TEST(Drive, a_right_table_passes_the_check_and_finds_what_is_expected_in_calls_of_any_size) {
  const std::vector<Key> stream = half_missing_stream();
  Liar table;
  for (const size_t lanes : {1U, 32U, 63U, 64U, 65U, 256U}) {
    EXPECT_EQ(first_wrong_answer(table, stream, lanes), std::nullopt);
    EXPECT_EQ(drive(table, std::span(stream), lanes), expected_outcome(stream));
  }
}

TEST(Drive, a_missed_key_an_invented_hit_and_a_wrong_value_are_each_noticed) {
  const std::vector<Key> stream = half_missing_stream();
  Liar misses{.fault = Liar::Fault::kMisses, .victim = first_key(stream, true)};
  Liar invents{.fault = Liar::Fault::kInvents, .victim = first_key(stream, false)};
  Liar wrong{.fault = Liar::Fault::kWrongValue, .victim = first_key(stream, true)};
  EXPECT_NE(first_wrong_answer(misses, stream, 32), std::nullopt);
  EXPECT_NE(first_wrong_answer(invents, stream, 32), std::nullopt);
  EXPECT_NE(first_wrong_answer(wrong, stream, 32), std::nullopt);
  EXPECT_NE(drive(misses, std::span(stream), 32), expected_outcome(stream));
  EXPECT_NE(drive(invents, std::span(stream), 32), expected_outcome(stream));
}

// An entrant whose passes write its name to a log.
Entrant logging_entrant(const std::string& name, std::string& log) {
  return {.contestant = name,
          .form = "",
          .lanes_per_call = 1,
          .table_bytes = 0,
          .pages = {},
          .first_wrong = [](std::span<const Key>) { return std::optional<std::string>(); },
          .expected = [](std::span<const Key>) { return PassOutcome{}; },
          .pass =
              [name, &log](std::span<const Key>) {
                log += name;
                return PassOutcome{};
              }};
}

TEST(Rounds, entrants_take_turns_and_warm_up_rounds_are_not_reported) {
  std::string log;
  const std::array entrants = {logging_entrant("A", log), logging_entrant("B", log)};
  const std::array streams = {Stream{.miss_ratio = 0, .keys = {}}};
  const auto timings = measure(entrants, streams, {.warm_up_rounds = 1, .rounds = 2});
  ASSERT_TRUE(timings.ok());
  EXPECT_EQ(log, "ABABAB");
  ASSERT_EQ(timings.value().size(), 4U);
  EXPECT_EQ(timings.value().back().round, 1U);
}

TEST(Rounds, a_wrong_answer_in_the_check_or_in_a_timed_pass_ends_the_measurement) {
  std::string log;
  const std::array streams = {Stream{.miss_ratio = 0, .keys = {}}};
  Entrant caught_early = logging_entrant("A", log);
  caught_early.first_wrong = [](std::span<const Key>) {
    return std::optional<std::string>("wrong");
  };
  EXPECT_FALSE(
      measure(std::span(&caught_early, 1), streams, {.warm_up_rounds = 0, .rounds = 1}).ok());
  EXPECT_EQ(log, "");
  Entrant caught_late = logging_entrant("A", log);
  caught_late.expected = [](std::span<const Key>) {
    return PassOutcome{.hit_count = 1, .word_sum = 0};
  };
  EXPECT_FALSE(
      measure(std::span(&caught_late, 1), streams, {.warm_up_rounds = 0, .rounds = 1}).ok());
}

TEST(Ceiling, every_variant_touches_what_the_plain_walk_touches) {
  auto ceiling = TwoLineCeiling::create(4096, PageKind::kSmall);
  ASSERT_TRUE(ceiling.ok());
  const std::vector<Key> stream = half_missing_stream();
  for (const size_t count : {0U, 1U, 31U, 32U, 65U, 1001U}) {
    const auto part = std::span(stream).first(count);
    for (const TwoLineCeiling::Variant& variant : TwoLineCeiling::variants()) {
      EXPECT_EQ(variant.pass(ceiling.value(), part), ceiling.value().expected(part))
          << variant.name;
    }
  }
}

}  // namespace
}  // namespace roost::lab
