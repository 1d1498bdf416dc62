// Prefetch of one cache line for reading, with the hint chosen at compile time.
#pragma once

#include <cstdint>

namespace roost {

// Where the line is to go: into every cache level, or past them where the processor can (for tables
// that no cache holds).
enum class PrefetchHint : uint8_t { kT0, kNta };

template <PrefetchHint kHint>
inline void prefetch(const void* address) {
  if constexpr (kHint == PrefetchHint::kT0) {
    __builtin_prefetch(address, 0, 3);
  } else {
    __builtin_prefetch(address, 0, 0);
  }
}

}  // namespace roost
