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
// Lanes that wait until they are looked up alone.
inline constexpr size_t kAloneMax = 64;

// What a lane's lines say of its key.
enum class LaneAnswer : uint8_t {
  kAbsent = 0,
  kFound = 1,
  kAlone = 2,  // nothing yet: it needs more lines, or was read while it changed
};

// Looks a batch up in groups of lanes. start(key) asks for a lane's lines and says where they are;
// finish(key, place, value) reads them; of lanes that it does not answer prepare_alone(key) asks
// for more lines and look_up_alone(key) answers. With each lane that is finished one of the next
// group is started, so that requests for lines are as evenly spread as the work on those that have
// come. How many lanes have a value.
template <class Key, class Start, class Finish, class PrepareAlone, class LookUpAlone>
size_t look_up_in_groups(std::span<const Key> keys, std::span<uint32_t> values, HitWords maybe,
                         Start&& start, Finish&& finish, PrepareAlone&& prepare_alone,
                         LookUpAlone&& look_up_alone) {
  ROOST_ASSERT(values.size() >= keys.size() && maybe.hold(keys.size()));
  using Place = decltype(start(keys[0]));
  std::array<std::array<Place, kGroupLanes>, 2> places;
  const size_t first = std::min(kGroupLanes, keys.size());
  for (size_t lane = 0; lane < first; ++lane) places[0][lane] = start(keys[lane]);
  size_t count = 0;
  std::array<size_t, kAloneMax> alone;  // lanes
  size_t alone_count = 0;
  const auto look_up_those_alone = [&] {
    for (const size_t lane : std::span(alone).first(alone_count)) prepare_alone(keys[lane]);
    for (const size_t lane : std::span(alone).first(alone_count)) {
      const std::optional<uint32_t> value = look_up_alone(keys[lane]);
      if (!value) continue;
      values[lane] = *value;
      maybe.set(lane);
      ++count;
    }
    alone_count = 0;
  };
  size_t turn = 0;
  for (size_t at = 0; at < keys.size(); at += kGroupLanes, turn = 1 - turn) {
    const size_t lanes = std::min(kGroupLanes, keys.size() - at);
    const size_t next = std::min(kGroupLanes, keys.size() - at - lanes);
    uint32_t found = 0;
    const auto finish_lane = [&](size_t lane) {
      const auto answer =
          static_cast<uint32_t>(finish(keys[at + lane], places[turn][lane], values[at + lane]));
      found |= (answer & 1U) << lane;
      alone[alone_count] = at + lane;
      alone_count += answer >> 1;
    };
    for (size_t lane = 0; lane < next; ++lane) {
      places[1 - turn][lane] = start(keys[at + kGroupLanes + lane]);
      finish_lane(lane);
    }
    for (size_t lane = next; lane < lanes; ++lane) finish_lane(lane);
    maybe.write_group(at, found);
    count += static_cast<size_t>(std::popcount(found));
    if (alone_count >= kAloneMax - kGroupLanes) look_up_those_alone();
  }
  look_up_those_alone();
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
