// What both readers do with a batch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"

namespace roost::compact {

// Lanes whose lines are asked for together.
inline constexpr size_t kGroupLanes = 32;

// Calls look_up(keys, values) with a group of lanes after the other; it returns a bit for each lane
// that has a value. How many there are.
template <class Key, class LookUp>
size_t look_up_in_groups(std::span<const Key> keys, std::span<uint32_t> values, HitWords maybe,
                         LookUp&& look_up) {
  ROOST_ASSERT(values.size() >= keys.size() && maybe.hold(keys.size()));
  size_t count = 0;
  for (size_t at = 0; at < keys.size(); at += kGroupLanes) {
    const size_t lanes = std::min(kGroupLanes, keys.size() - at);
    const uint32_t found = look_up(keys.subspan(at, lanes), values.subspan(at, lanes));
    maybe.write_group(at, found);
    count += static_cast<size_t>(std::popcount(found));
  }
  return count;
}

// What is wrong with the widths of a value and of its fingerprint, if anything.
[[nodiscard]] inline std::optional<Error> wrong_widths(uint32_t value_bits,
                                                       uint32_t fingerprint_bits) {
  constexpr std::array<uint32_t, 4> kFingerprints = {0, 8, 12, 16};
  if (value_bits < 4 || value_bits > 32) return Error{"value_bits: give 4 to 32"};
  if (std::ranges::find(kFingerprints, fingerprint_bits) == kFingerprints.end())
    return Error{"fingerprint_bits: give 0, 8, 12 or 16"};
  return {};
}

}  // namespace roost::compact
