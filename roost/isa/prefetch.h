// Prefetch of one cache line for reading.
#pragma once

#include <cstdint>

namespace roost {

// Where the line is to go: into every cache level, or only down to the second, which can wait for
// more lines at a time than the first. The first is for lines that are not far away.
enum class PrefetchHint : uint8_t { kT0, kT1 };

// Inlined by command, like whatever else does nothing but prefetch: GCC takes such a function for
// one without effect and drops calls of it.
//
// A hint that is known when the program is compiled leaves one instruction, any other one a branch
// that is always taken the same way.
[[gnu::always_inline]] inline void prefetch(PrefetchHint hint, const void* address) {
  if (hint == PrefetchHint::kT0) {
    __builtin_prefetch(address, 0, 3);
  } else {
    __builtin_prefetch(address, 0, 2);
  }
}

}  // namespace roost
