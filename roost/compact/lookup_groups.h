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

// Looks a batch up in groups of lanes: start(keys, places) asks for the lines of a group, and
// finish(keys, values, places) reads them and returns a bit for each lane that has a value. A group
// is started before the one ahead of it is finished. How many lanes have a value.
template <class Place, class Key, class Start, class Finish>
size_t look_up_in_groups(std::span<const Key> keys, std::span<uint32_t> values, HitWords maybe,
                         Start&& start, Finish&& finish) {
  ROOST_ASSERT(values.size() >= keys.size() && maybe.hold(keys.size()));
  std::array<std::array<Place, kGroupLanes>, 2> places;
  const auto group_at = [&](size_t at) {
    return keys.subspan(at, std::min(kGroupLanes, keys.size() - at));
  };
  size_t count = 0;
  size_t turn = 0;
  if (!keys.empty()) start(group_at(0), std::span(places[0]));
  for (size_t at = 0; at < keys.size(); at += kGroupLanes, turn = 1 - turn) {
    const size_t next = at + kGroupLanes;
    if (next < keys.size()) start(group_at(next), std::span(places[1 - turn]));
    const std::span<const Key> group = group_at(at);
    const uint32_t found =
        finish(group, values.subspan(at, group.size()), std::span<const Place>(places[turn]));
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
