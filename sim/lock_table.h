// The locked lines of a slice. One bit a line cannot count the lookups that have locked it, so here
// are counts; as many as accelerators' scoreboards have lines, so a short list is enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "roost/base/assert.h"

namespace roost::sim {

class LockTable {
 public:
  void lock(uint64_t line) {
    ++locks_;
    const auto found = std::ranges::find(held_, line, &Held::line);
    if (found == held_.end()) {
      held_.push_back({line, 1});
    } else {
      ++found->count;
    }
  }
  // The line is locked.
  void unlock(uint64_t line) {
    const auto found = std::ranges::find(held_, line, &Held::line);
    ROOST_ASSERT(found != held_.end());
    if (--found->count != 0) return;
    *found = held_.back();
    held_.pop_back();
  }
  [[nodiscard]] bool is_locked(uint64_t line) const {
    return std::ranges::find(held_, line, &Held::line) != held_.end();
  }
  // Lines locked now; locks taken so far.
  [[nodiscard]] size_t size() const { return held_.size(); }
  [[nodiscard]] uint64_t lock_count() const { return locks_; }

 private:
  struct Held {
    uint64_t line;
    uint32_t count;
  };
  std::vector<Held> held_;
  uint64_t locks_ = 0;
};

}  // namespace roost::sim
