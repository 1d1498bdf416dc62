// What serves one thing a cycle: a link of the mesh, a slice's pipeline. Whoever comes takes the
// first free cycle from the one on in which it could be served.
//
// A bit a cycle in a window of 1,024 cycles, so that takers need not come in the order of their
// cycles: an answer is given its cycle on a link when it is known that it will leave. Farther ahead
// than the window nothing may be taken.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim/event_queue.h"

namespace roost::sim {

class SlotCalendar {
 public:
  // The first free cycle from `wanted` on, which is not free any more. Constant time where there is
  // no crowd.
  Cycle take(Cycle wanted) {
    for (Cycle word = wanted / 64;; ++word) {
      Word& place = words_[word % kWords];
      if (place.number != word) place = {word, 0};
      uint64_t free = ~place.taken;
      if (word == wanted / 64) free &= ~uint64_t{0} << (wanted % 64);
      if (free == 0) continue;
      const auto bit = static_cast<unsigned>(std::countr_zero(free));
      place.taken |= uint64_t{1} << bit;
      ++taken_count_;
      return word * 64 + bit;
    }
  }

  // Cycles taken so far.
  [[nodiscard]] uint64_t taken_count() const { return taken_count_; }

 private:
  static constexpr uint64_t kWords = 16;
  struct Word {
    uint64_t number = 0;
    uint64_t taken = 0;
  };
  std::array<Word, kWords> words_{};
  uint64_t taken_count_ = 0;
};

}  // namespace roost::sim
