// The hash of a backend's name. It decides where the backend stands in every table of every
// instance, so it is written out here and never changes: FNV-1a over the bytes, then SplitMix64 to
// spread the bits and to draw as many numbers as are needed.
#pragma once

#include <cstdint>
#include <string_view>

namespace roost::balance {

// FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
[[nodiscard]] constexpr uint64_t fnv1a64(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// The next number of the SplitMix64 sequence (Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", 2014).
[[nodiscard]] constexpr uint64_t splitmix64_next(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

// Two independent numbers for a name under a seed.
struct NameHash {
  uint64_t first = 0;
  uint64_t second = 0;
};

[[nodiscard]] constexpr NameHash name_hash(std::string_view name, uint64_t seed) {
  uint64_t state = fnv1a64(name) ^ splitmix64_next(seed);
  const uint64_t first = splitmix64_next(state);
  const uint64_t second = splitmix64_next(state);
  return {first, second};
}

}  // namespace roost::balance
