// What becomes of sorted keys under a model, before there is an image.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/compact/crc8.h"
#include "roost/compact/monotone_model.h"

namespace roost::compact {

// The first seed that gives each of at most four keys a slot of its own; nothing: there is none.
[[nodiscard]] inline std::optional<uint8_t> find_seed(std::span<const uint64_t> keys) {
  for (unsigned seed = 0; seed <= UINT8_MAX; ++seed) {
    unsigned taken = 0;
    for (const uint64_t key : keys) taken |= 1U << slot_of(key, static_cast<uint8_t>(seed));
    if (static_cast<size_t>(std::popcount(taken)) == keys.size()) return static_cast<uint8_t>(seed);
  }
  return {};
}

// Calls visit(bucket, first, count) for each bucket that has keys: those from the first one on.
template <class Visit>
void for_each_bucket(const MonotoneModel& model, std::span<const uint64_t> keys, Visit&& visit) {
  for (size_t first = 0; first < keys.size();) {
    const uint64_t bucket = model.bucket_of(keys[first]);
    size_t past = first + 1;
    while (past < keys.size() && model.bucket_of(keys[past]) == bucket) ++past;
    visit(bucket, first, past - first);
    first = past;
  }
}

}  // namespace roost::compact
