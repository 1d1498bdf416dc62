// The driver's own cost: a contestant that touches no table. Each lane "hits" and is answered with
// its key's words. Hit bits are written 32 at a time, as tables do: one by one, they would cost
// more than all the rest, since each waits for the one before it to come back from memory.
#pragma once

#include <algorithm>
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
    for (size_t first = 0; first < keys.size(); first += 32) {
      const size_t lane_count = std::min<size_t>(32, keys.size() - first);
      for (size_t lane = first; lane < first + lane_count; ++lane)
        answers[lane].words = keys[lane].words;
      hits.write_group(first, ~uint32_t{0} >> (32 - lane_count));
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
