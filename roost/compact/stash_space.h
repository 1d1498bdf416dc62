// Which entries of a stash are free: runs of 1 to 16, given out and taken back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roost/base/assert.h"
#include "roost/compact/parrot_layout.h"

namespace roost::compact {

class StashSpace {
 public:
  explicit StashSpace(uint64_t capacity) : capacity_(capacity) {}

  // The first entry of a free run; nothing: there is none so long. Runs that came back are given
  // out again first, whole or in part.
  [[nodiscard]] std::optional<uint64_t> take(size_t count) {
    ROOST_ASSERT(count >= 1 && count <= kStashWalkMax);
    for (size_t length = count; length <= kStashWalkMax; ++length) {
      std::vector<uint64_t>& runs = free_[length - 1];
      if (runs.empty()) continue;
      const uint64_t first = runs.back();
      runs.pop_back();
      if (length > count) free_[length - count - 1].push_back(first + count);
      taken_ += count;
      return first;
    }
    if (end_ + count > capacity_) return {};
    end_ += count;
    taken_ += count;
    return end_ - count;
  }
  void give_back(uint64_t first, size_t count) {
    if (count == 0) return;
    ROOST_ASSERT(count <= kStashWalkMax && first + count <= end_);
    free_[count - 1].push_back(first);
    taken_ -= count;
  }

  [[nodiscard]] uint64_t capacity() const { return capacity_; }
  // Entries up to the last one that was ever taken; those that are taken now.
  [[nodiscard]] uint64_t end() const { return end_; }
  [[nodiscard]] uint64_t taken() const { return taken_; }
  [[nodiscard]] uint64_t free_count() const {
    uint64_t count = 0;
    for (size_t length = 1; length <= kStashWalkMax; ++length)
      count += length * free_[length - 1].size();
    return count;
  }

 private:
  uint64_t capacity_;
  uint64_t end_ = 0;
  uint64_t taken_ = 0;
  std::array<std::vector<uint64_t>, kStashWalkMax> free_;
};

}  // namespace roost::compact
