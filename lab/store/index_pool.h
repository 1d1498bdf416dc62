// The free indices of records that threads share: in a ring, under one lock.
//
// An index that was in a table goes to its next owner only after a grace period, because
// threads that found it there may still use it. The ring is in the order in which indices came
// back, so that the wait is mostly over when one's turn comes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "lab/store/quiescent_states.h"
#include "roost/base/assert.h"

namespace roost::lab {

// Any thread, any time.
class IndexPool {
 public:
  // Indices from 0 up, all free.
  IndexPool(uint32_t count, QuiescentStates& states)
      : ring_(count), free_count_(count), states_(states) {
    for (uint32_t index = 0; index < count; ++index) ring_[index] = {index, kNoGracePeriod};
  }

  // An index that is the caller's alone. Nothing: all are in use or in a grace period.
  [[nodiscard]] std::optional<uint32_t> take() {
    const std::scoped_lock guard(lock_);
    if (free_count_ == 0) return {};
    const Free first = ring_[first_];
    if (!states_.is_over(first.token)) return {};
    first_ = (first_ + 1) % ring_.size();
    --free_count_;
    return first.index;
  }
  // One that was in a table until now.
  void retire(uint32_t index) {
    const std::scoped_lock guard(lock_);
    append({index, states_.begin()});
  }
  // One that no other thread has seen.
  void give_back(uint32_t index) {
    const std::scoped_lock guard(lock_);
    append({index, kNoGracePeriod});
  }

 private:
  static constexpr QuiescentStates::Token kNoGracePeriod = 0;  // always over

  struct Free {
    uint32_t index = 0;
    QuiescentStates::Token token = kNoGracePeriod;  // its grace period
  };

  void append(const Free& one) {
    ROOST_ASSERT(free_count_ < ring_.size());
    ring_[(first_ + free_count_) % ring_.size()] = one;
    ++free_count_;
  }

  std::mutex lock_;
  std::vector<Free> ring_;
  uint64_t first_ = 0;
  uint64_t free_count_;
  QuiescentStates& states_;
};

}  // namespace roost::lab
