// How often a test repeats what it does at random.
#pragma once

#include <cstdint>

namespace roost {

// All of the steps, or one of `among` of them under a sanitizer, which takes ten times as long and
// looks at each step, not at how often it is done.
constexpr uint64_t step_count(uint64_t steps, [[maybe_unused]] uint64_t among = 10) {
#ifdef ROOST_SANITIZED
  return steps / among;
#else
  return steps;
#endif
}

}  // namespace roost
