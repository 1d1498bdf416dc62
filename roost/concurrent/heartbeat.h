// A question that any thread may put to one other at any time: does it still take turns? It stands
// beside whatever else that thread is asked for, and waits behind none of it.
//
//   asker: number = ask(), then looks until is_answered(number)
//   the other, each turn: beat()
//
// Relaxed throughout: that a turn was taken says nothing of other memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace roost {

// One thread beats; any number of threads ask.
class Heartbeat {
 public:
  // --- The askers'. ---

  // The question's number.
  [[nodiscard]] uint32_t ask() { return asked_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // Whether the other thread has begun or ended a turn since that question.
  [[nodiscard]] bool is_answered(uint32_t number) const {
    // By the difference, because numbers wrap.
    return static_cast<int32_t>(answered_.load(std::memory_order_relaxed) - number) >= 0;
  }

  // --- The other thread's. ---

  // Answers all that was asked until now; without a question, two loads from a line that no thread
  // writes.
  void beat() {
    const uint32_t asked = asked_.load(std::memory_order_relaxed);
    if (asked == answered_.load(std::memory_order_relaxed)) return;
    answered_.store(asked, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> asked_ = 0;
  std::atomic<uint32_t> answered_ = 0;
};

}  // namespace roost
