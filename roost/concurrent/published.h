// Counts that one thread publishes now and then for others to look at: a status line's, not a sum
// that must close. Each count is a whole one; two of them may be of different moments.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace roost {

// One writer, any number of readers.
template <size_t kCount>
class alignas(64) Published {
 public:
  // Relaxed: a count says nothing of other memory.
  void publish(const std::array<uint64_t, kCount>& counts) {
    for (size_t i = 0; i < kCount; ++i) counts_[i].store(counts[i], std::memory_order_relaxed);
  }

  [[nodiscard]] std::array<uint64_t, kCount> look() const {
    std::array<uint64_t, kCount> counts;
    for (size_t i = 0; i < kCount; ++i) counts[i] = counts_[i].load(std::memory_order_relaxed);
    return counts;
  }

 private:
  std::array<std::atomic<uint64_t>, kCount> counts_{};
};
static_assert(sizeof(Published<8>) == 64, "lines that only its writer writes");

}  // namespace roost
