// Whether a thread still takes turns: any other thread may request a sign of that at any time. The
// request waits behind none of the thread's other requests.
//
//   requester: number = request(), then polls until is_answered(number)
//   the thread, each turn: beat()
//
// Relaxed throughout: that a turn was taken says nothing of other memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace roost {

// One thread beats; any number of threads request.
class Heartbeat {
 public:
  // --- The requesters'. ---

  // The request's number.
  [[nodiscard]] uint32_t request() {
    return requested_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  // Whether the thread has begun or ended a turn since that request.
  [[nodiscard]] bool is_answered(uint32_t number) const {
    // By the difference, because numbers wrap.
    return static_cast<int32_t>(answered_.load(std::memory_order_relaxed) - number) >= 0;
  }

  // --- The thread's. ---

  // Answers all requests until now; without one, two loads from a line that no thread writes.
  void beat() {
    const uint32_t requested = requested_.load(std::memory_order_relaxed);
    if (requested == answered_.load(std::memory_order_relaxed)) return;
    answered_.store(requested, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> requested_ = 0;
  std::atomic<uint32_t> answered_ = 0;
};

}  // namespace roost
