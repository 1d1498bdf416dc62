// The harness itself: what it accepts as a right answer, what it counts, what it reads of the
// machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "lab/contestants/line_ceiling.h"
#include "lab/harness/drive.h"
#include "lab/harness/pinned_core.h"
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
  return traffic::query_stream(traffic::KeySource(7),
                               {.entry_count = kEntries, .query_count = 1001, .miss_ratio = 0.5});
}

Key first_key(const std::vector<Key>& stream, bool is_inserted) {
  return *std::find_if(stream.begin(), stream.end(), [is_inserted](const Key& key) {
    return is_inserted_key(key) == is_inserted;
  });
}

TEST(Drive, a_right_table_passes_the_check_and_finds_what_is_expected_in_calls_of_any_size) {
  const std::vector<Key> stream = half_missing_stream();
  Liar table;
  for (const size_t lanes : {1U, 32U, 63U, 64U, 65U, 256U}) {
    EXPECT_EQ(first_wrong_answer(table, stream, lanes), std::nullopt);
    EXPECT_EQ(drive(table, stream, lanes), expected_outcome(std::span<const Key>(stream)));
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
  EXPECT_NE(drive(misses, stream, 32), expected_outcome(std::span<const Key>(stream)));
  EXPECT_NE(drive(invents, stream, 32), expected_outcome(std::span<const Key>(stream)));
}

// An entrant whose passes write its name to a log.
Entrant logging_entrant(const std::string& name, std::string& log) {
  return {.contestant = name,
          .form = "",
          .first_wrong = [](size_t, const Stream&) { return std::optional<std::string>(); },
          .expected = [](size_t, const Stream&) { return PassOutcome{}; },
          .pass =
              [name, &log](size_t, const Stream&) {
                log += name;
                return PassOutcome{};
              }};
}

RoundsConfig here(unsigned warm_up_rounds, unsigned rounds) {
  return {
      .cores = {last_allowed_core().value()}, .warm_up_rounds = warm_up_rounds, .rounds = rounds};
}

TEST(Rounds, warm_up_rounds_are_not_reported) {
  std::string log;
  const std::array entrants = {logging_entrant("A", log), logging_entrant("B", log)};
  const std::array streams = {NamedStream{"none", {Stream({})}}};
  const auto timings = measure(entrants, streams, here(1, 2));
  ASSERT_TRUE(timings.ok());
  EXPECT_EQ(log.size(), 6U);
  ASSERT_EQ(timings.value().size(), 4U);
  EXPECT_EQ(timings.value().back().round, 1U);
}

TEST(Rounds, every_entrant_runs_once_a_round_and_follows_each_of_the_others_in_some) {
  std::string log;
  const std::array entrants = {logging_entrant("A", log), logging_entrant("B", log),
                               logging_entrant("C", log)};
  const std::array streams = {NamedStream{"none", {Stream({})}}};
  constexpr unsigned kRounds = 12;
  const auto timings = measure(entrants, streams, here(0, kRounds));
  ASSERT_TRUE(timings.ok());
  ASSERT_EQ(log.size(), entrants.size() * kRounds);
  ASSERT_EQ(timings.value().size(), log.size());
  std::set<std::string> orders;
  for (size_t pass = 0; pass < log.size(); pass += entrants.size()) {
    std::string order = log.substr(pass, entrants.size());
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, "ABC");
  }
  EXPECT_GE(orders.size(), 3U);
  for (const std::string neighbours : {"AB", "AC", "BA", "BC", "CA", "CB"})
    EXPECT_NE(log.find(neighbours), std::string::npos) << neighbours;
  for (size_t pass = 0; pass < log.size(); ++pass)
    EXPECT_EQ(timings.value()[pass].entrant, static_cast<size_t>(log[pass] - 'A'));
}

TEST(Rounds, a_pass_is_undone_before_the_next_one) {
  std::string log;
  Entrant entrant = logging_entrant("A", log);
  entrant.restore = [&log](size_t) { log += "-"; };
  const std::array streams = {NamedStream{"none", {Stream({})}}};
  ASSERT_TRUE(measure(std::span(&entrant, 1), streams, here(0, 2)).ok());
  EXPECT_EQ(log, "A-A-");
}

TEST(Rounds, a_round_runs_on_one_core_and_then_on_both_with_a_stream_each) {
  const std::array streams = {NamedStream{"two", {Stream({Key{{1, 2}}}), Stream({Key{{3, 4}}})}}};
  std::array<std::atomic<int>, 2> passes{};
  Entrant entrant{
      .contestant = "A",
      .form = "",
      .first_wrong = [](size_t, const Stream&) { return std::optional<std::string>(); },
      .expected =
          [](size_t, const Stream& stream) {
            return PassOutcome{.hit_count = 0, .word_sum = stream.as<Key>()[0].words[0]};
          },
      .pass =
          [&passes](size_t core, const Stream& stream) {
            // Core 1's timed pass ends only when core 0, alone, before and in its own, has gone on.
            if (++passes[core] == 2 && core == 1) {
              while (passes[0] < 4) std::this_thread::yield();
            }
            return PassOutcome{.hit_count = 0, .word_sum = stream.as<Key>()[0].words[0]};
          }};
  const int core = last_allowed_core().value();
  const auto timings = measure(std::span(&entrant, 1), streams,
                               {.cores = {core, core}, .warm_up_rounds = 0, .rounds = 3});
  ASSERT_TRUE(timings.ok());
  EXPECT_GE(passes[0], 3 + 3 * 2) << "alone, before being timed, timed";
  EXPECT_GE(passes[1], 3 * 2);
  ASSERT_EQ(timings.value().size(), 6U);
  EXPECT_EQ(timings.value()[0].operations, 1U);
  EXPECT_EQ(timings.value()[1].core_count, 2U);
  EXPECT_EQ(timings.value()[1].operations, 2U);
}

TEST(Rounds, a_wrong_answer_in_the_check_or_in_a_timed_pass_ends_the_measurement) {
  std::string log;
  const std::array streams = {NamedStream{"none", {Stream({})}}};
  Entrant caught_early = logging_entrant("A", log);
  caught_early.first_wrong = [](size_t, const Stream&) {
    return std::optional<std::string>("wrong");
  };
  EXPECT_FALSE(measure(std::span(&caught_early, 1), streams, here(0, 1)).ok());
  EXPECT_EQ(log, "");
  Entrant caught_late = logging_entrant("A", log);
  caught_late.expected = [](size_t, const Stream&) {
    return PassOutcome{.hit_count = 1, .word_sum = 0};
  };
  EXPECT_FALSE(measure(std::span(&caught_late, 1), streams, here(0, 1)).ok());
}

TEST(Ceiling, every_variant_touches_what_the_plain_walk_touches) {
  const auto memory = LineCeiling::make_memory(64 << 10, PageKind::kSmall);
  ASSERT_TRUE(memory.ok());
  const std::vector<Key> stream = half_missing_stream();
  for (const FewestLines shape : {FewestLines{16 << 10, 0}, FewestLines{16 << 10, 32 << 10}}) {
    const LineCeiling ceiling(memory.value(), shape);
    EXPECT_EQ(ceiling.shape(), shape);
    for (const size_t count : {0U, 1U, 31U, 32U, 65U, 1001U}) {
      const auto part = std::span<const Key>(stream).first(count);
      for (const LineCeiling::Variant& variant : ceiling.variants())
        EXPECT_EQ(variant.pass(ceiling, part), ceiling.expected(part)) << variant.name;
    }
  }
}

}  // namespace
}  // namespace roost::lab
