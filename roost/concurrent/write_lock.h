// The right to change a shared table: one thread's at a time, with a `try`.
#pragma once

#include <atomic>

namespace roost {

class WriteLock {
 public:
  WriteLock() = default;
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  // True when it is the caller's now, who unlocks it.
  [[nodiscard]] bool try_lock() { return !is_locked_.exchange(true, std::memory_order_acquire); }
  // Waits for whoever has it, by wait(attempt); for callers that have nothing else to do.
  template <class Wait>
  void lock(Wait&& wait) {
    for (unsigned attempt = 0; !try_lock(); ++attempt) wait(attempt);
  }
  // Sequentially consistent: all that was written is seen by who begins to read from now on.
  void unlock() { is_locked_.exchange(false, std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<bool> is_locked_{false};
};

}  // namespace roost
