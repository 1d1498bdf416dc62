// The loop every contestant is timed in, and the check that runs before it.
//
// Keys are streamed from the pre-generated queries, a call at a time; answers are written to a
// buffer that stays in the first-level cache; hit bits are counted and one word of every answer
// that hit is summed up. The sum is known beforehand from the queries alone, so a timed pass is
// also proof that its work was done.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"

namespace roost::lab {

// What one pass over a stream found.
struct PassOutcome {
  uint64_t hit_count = 0;
  uint64_t word_sum = 0;  // modulo 2^64

  friend bool operator==(const PassOutcome&, const PassOutcome&) = default;
};

template <class Table>
using KeysOf = std::span<const KeyOf<Table>>;

// Calls `use(keys, answers, hit words)` after each call to the table.
template <Answering Table, class Use>
void for_each_call(Table& table, KeysOf<Table> stream, size_t lanes_per_call, Use&& use) {
  std::array<typename Table::Answer, kLanesMax> answers{};
  std::array<uint64_t, hit_word_count(kLanesMax)> words{};
  const auto keys_from = [stream, lanes_per_call](size_t first) {
    const size_t at = std::min(first, stream.size());
    return stream.subspan(at, std::min(lanes_per_call, stream.size() - at));
  };
  for (size_t first = 0; first < stream.size(); first += lanes_per_call) {
    const KeysOf<Table> keys = keys_from(first);
    if constexpr (AheadLookup<Table>) {
      table.lookup(keys, keys_from(first + lanes_per_call), answers, HitWords(words));
    } else {
      table.lookup(keys, answers, HitWords(words));
    }
    use(keys, answers, words);
  }
}

// Every branch of the driver is taken alike for hits and misses, so it adds no misprediction to a
// contestant's.
template <Answering Table>
[[gnu::noinline]] PassOutcome drive(Table& table, KeysOf<Table> stream, size_t lanes_per_call) {
  PassOutcome outcome;
  for_each_call(table, stream, lanes_per_call,
                [&outcome](KeysOf<Table> keys, const auto& answers, const auto& words) {
                  for (size_t first = 0; first < keys.size(); first += 64) {
                    uint64_t hits = words[first / 64];
                    outcome.hit_count += static_cast<uint64_t>(std::popcount(hits));
                    const size_t past = std::min(first + 64, keys.size());
                    for (size_t lane = first; lane < past; ++lane, hits >>= 1) {
                      outcome.word_sum += Table::answer_word(answers[lane]) & (0 - (hits & 1));
                    }
                  }
                });
  return outcome;
}

// What a right table with such values finds in a stream.
template <class ValueType = Value, class KeyType>
PassOutcome expected_outcome(std::span<const KeyType> stream) {
  PassOutcome outcome;
  for (const KeyType& key : stream) {
    if (!is_inserted_key(key)) continue;
    ++outcome.hit_count;
    outcome.word_sum += word_of(value_of<ValueType>(key));
  }
  return outcome;
}

// Looks every query up in calls of the given size and compares each answer. Nothing when all are
// right; else what was wrong first.
template <Checkable Table>
std::optional<std::string> first_wrong_answer(Table& table, KeysOf<Table> stream,
                                              size_t lanes_per_call) {
  std::optional<std::string> wrong;
  size_t query = 0;
  for_each_call(table, stream, lanes_per_call,
                [&](KeysOf<Table> keys, const auto& answers, auto& words) {
                  const HitWords hits(words);
                  for (size_t lane = 0; lane < keys.size(); ++lane, ++query) {
                    const char* what = nullptr;
                    const auto value = value_of<ValueOf<Table>>(keys[lane]);
                    if (hits.test(lane) != is_inserted_key(keys[lane])) {
                      what = hits.test(lane) ? " hit, but its key was never inserted"
                                             : " missed an inserted key";
                    } else if (hits.test(lane) && !Table::is_answer(answers[lane], value)) {
                      what = " was answered with another value than was inserted";
                    }
                    if (what != nullptr && !wrong) wrong = "query " + std::to_string(query) + what;
                  }
                });
  return wrong;
}

}  // namespace roost::lab
