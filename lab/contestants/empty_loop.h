// The driver's own cost: a contestant that touches no table. Each lane "hits" and is answered with
// its key's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lab/harness/drive.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"

namespace roost::lab {

struct EmptyLoop {
  static constexpr std::string_view kName = "empty_loop";
  using Answer = Value;

  // Not inlined, as a table's lookup is not: the driver must not see through it.
  [[gnu::noinline]] void lookup(std::span<const Key> keys, std::span<Value> answers,
                                HitWords hits) {
    hits.clear(keys.size());
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      answers[lane].words = keys[lane].words;
      hits.set(lane);
    }
  }
  static uint64_t answer_word(const Value& answer) { return answer.words[0]; }

  static PassOutcome expected(std::span<const Key> stream) {
    PassOutcome outcome{.hit_count = stream.size(), .word_sum = 0};
    for (const Key& key : stream) outcome.word_sum += key.words[0];
    return outcome;
  }
};

}  // namespace roost::lab
