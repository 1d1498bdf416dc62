// Random numbers from a seed: SplitMix64, the same on every machine.
#pragma once

#include <cstdint>

#include "roost/base/assert.h"

namespace roost::traffic {

// SplitMix64's finisher: bijective, every output bit depends on every input bit.
[[nodiscard]] constexpr uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

// The same for words of 47 bits: what is left of a key of 48 with a bit that has a meaning.
inline constexpr uint64_t kMask47 = (uint64_t{1} << 47) - 1;
[[nodiscard]] constexpr uint64_t mix47(uint64_t word) {
  word = (word & kMask47) * 0x476D1CE4E5B9U & kMask47;
  word = (word ^ (word >> 23)) * 0x49BB133111EBU & kMask47;
  word = (word ^ (word >> 24)) * 0x6C64D4E5B2D9U & kMask47;
  return word ^ (word >> 25);
}

class Draw {
 public:
  explicit constexpr Draw(uint64_t seed) : state_(seed) {}

  [[nodiscard]] constexpr uint64_t word() {
    state_ += 0x9E3779B97F4A7C15U;
    return mix(state_);
  }
  // Evenly from 0 to bound - 1; bound is below 2^32.
  [[nodiscard]] constexpr uint64_t below(uint64_t bound) {
    ROOST_DEBUG_ASSERT(bound >> 32 == 0);
    return ((word() >> 32) * bound) >> 32;
  }
  // Evenly from 0 to 1, without 1.
  [[nodiscard]] constexpr double unit() { return static_cast<double>(word() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace roost::traffic
