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

// What a lane's lines say of its key.
enum class LaneAnswer : uint8_t {
  kAbsent = 0,
  kFound = 1,
  kAlone = 2,  // nothing yet: it needs more lines, or was read while it changed
};

// Looks a batch up in groups of lanes; how many have a value. `lanes` is the table, by value, so
// that what it knows is not read anew after each value that is stored:
//
//   start(key)                 asks for a lane's lines, and says where they are
//   finish(key, place, value)  reads them
//   prepare_alone(key, place)  asks for more lines, of lanes that finish() leaves alone
//   look_up_alone(key, place)  answers those
//
// With each lane that is finished one of the next group is started, so that requests for lines are
// as evenly spread as the work on those that have come. Lanes that are looked up alone are so when
// the next group has been finished.
template <class Key, class Lanes>
size_t look_up_in_groups(std::span<const Key> keys, std::span<uint32_t> values, HitWords maybe,
                         const Lanes lanes) {
  ROOST_ASSERT(values.size() >= keys.size() && maybe.hold(keys.size()));
  using Place = decltype(lanes.start(keys[0]));
  struct Alone {
    size_t lane;
    Place place;
  };
  struct Group {
    std::array<Place, kGroupLanes> places;
    std::array<Alone, kGroupLanes> alone;
    size_t alone_count;
  };
  std::array<Group, 2> groups;
  const size_t first = std::min(kGroupLanes, keys.size());
  for (size_t lane = 0; lane < first; ++lane) groups[0].places[lane] = lanes.start(keys[lane]);
  size_t count = 0;
  groups[1].alone_count = 0;
  const auto look_up_those_alone = [&](const Group& group) {
    for (const Alone& alone : std::span(group.alone).first(group.alone_count)) {
      const std::optional<uint32_t> value = lanes.look_up_alone(keys[alone.lane], alone.place);
      if (!value) continue;
      values[alone.lane] = *value;
      maybe.set(alone.lane);
      ++count;
    }
  };
  size_t turn = 0;
  for (size_t at = 0; at < keys.size(); at += kGroupLanes, turn = 1 - turn) {
    Group& group = groups[turn];
    Group& other = groups[1 - turn];
    const size_t lane_count = std::min(kGroupLanes, keys.size() - at);
    const size_t next = std::min(kGroupLanes, keys.size() - at - lane_count);
    uint32_t found = 0;
    size_t alone_count = 0;
    const auto finish_lane = [&](size_t lane) {
      const Key& key = keys[at + lane];
      const LaneAnswer answer = lanes.finish(key, group.places[lane], values[at + lane]);
      found |= (static_cast<uint32_t>(answer) & 1U) << lane;
      if ((static_cast<uint32_t>(answer) & 2U) != 0) [[unlikely]] {
        lanes.prepare_alone(key, group.places[lane]);
        group.alone[alone_count++] = {at + lane, group.places[lane]};
      }
    };
    for (size_t lane = 0; lane < next; ++lane) {
      other.places[lane] = lanes.start(keys[at + kGroupLanes + lane]);
      finish_lane(lane);
    }
    for (size_t lane = next; lane < lane_count; ++lane) finish_lane(lane);
    group.alone_count = alone_count;
    maybe.write_group(at, found);
    count += static_cast<size_t>(std::popcount(found));
    look_up_those_alone(other);
  }
  if (!keys.empty()) look_up_those_alone(groups[1 - turn]);
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
