// The secret words that a keyed hash makes of its seed: for data planes that hash as KeyedHash
// does, where that class is not.
#pragma once

#include <array>
#include <cstdint>

#include "roost/hash/split_mix.h"

namespace roost {

[[nodiscard]] constexpr std::array<uint64_t, 12> secret_words(uint64_t seed) {
  std::array<uint64_t, 12> words{};
  for (uint64_t& word : words) word = split_mix(seed);
  return words;
}

}  // namespace roost
