// How much may happen in a second, of all threads together.
#pragma once

#include <atomic>
#include <cstdint>

namespace roost {

class RateLimit {
 public:
  // Whether one more may happen in this second, in which case it has. A thread whose clock is a
  // moment behind counts in the second that others are in.
  [[nodiscard]] bool take(uint32_t second, uint32_t limit) {
    uint64_t seen = word_.load(std::memory_order_relaxed);
    while (true) {
      const bool is_new = second > static_cast<uint32_t>(seen >> kSecondShift);
      const uint32_t used = is_new ? 0 : static_cast<uint32_t>(seen);
      if (used >= limit) return false;
      const uint64_t next = is_new ? uint64_t{second} << kSecondShift | 1 : seen + 1;
      if (word_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return true;
    }
  }

 private:
  static constexpr unsigned kSecondShift = 32;

  // The second, and what has happened in it.
  std::atomic<uint64_t> word_{0};
};

}  // namespace roost
