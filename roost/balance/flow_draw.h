// Numbers that are drawn from a flow's hash.
#pragma once

#include <cstdint>

#include "roost/balance/name_hash.h"

namespace roost::balance {

// What a seed adds to each flow's hash.
[[nodiscard]] constexpr uint64_t seed_salt(uint64_t seed) { return splitmix64_next(seed); }

// The number that belongs to a flow and to `salt`: a backend, a bucket or a seed.
[[nodiscard]] constexpr uint64_t flow_draw(uint64_t flow_hash, uint64_t salt) {
  uint64_t state = flow_hash ^ salt;
  return splitmix64_next(state);
}

// From 0 to bound - 1, by the high half of a draw; evenly but for a part of bound / 2^32.
[[nodiscard]] constexpr uint32_t below(uint64_t draw, uint32_t bound) {
  return static_cast<uint32_t>(((draw >> 32) * bound) >> 32);
}

}  // namespace roost::balance
