// A choice between two addresses that is no branch: for choices that the processor cannot predict.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roost {

// `condition` is not zero ? yes : no.
//
// On x86 two instructions by hand, since GCC 12 makes a branch of every conditional expression
// here, and five instructions of what it cannot see through.
[[gnu::always_inline]] inline const std::byte* select(unsigned condition, const std::byte* yes,
                                                      const std::byte* no) {
#if defined(__x86_64__)
  asm("test %1, %1\n\tcmovz %2, %0" : "+r"(yes) : "r"(condition), "r"(no) : "cc");
  return yes;
#else
  const auto from = reinterpret_cast<uintptr_t>(no);
  const uintptr_t difference = reinterpret_cast<uintptr_t>(yes) ^ from;
  return reinterpret_cast<const std::byte*>(from ^ (difference & (0 - uintptr_t{condition != 0})));
#endif
}

}  // namespace roost
