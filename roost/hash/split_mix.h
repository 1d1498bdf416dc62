// SplitMix64: one well-mixed word after the other from a counter, for seeds.
#pragma once

#include <cstdint>

namespace roost {

constexpr uint64_t split_mix(uint64_t& counter) {
  counter += 0x9E3779B97F4A7C15U;
  uint64_t word = counter;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

}  // namespace roost
