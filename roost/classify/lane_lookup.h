// Lookups of some packets of a batch in a flow table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/hit_words.h"
#include "roost/classify/packet_fields.h"
#include "roost/net/packet_batch.h"
#include "roost/table/slot_mask.h"

namespace roost::classify {

// Packets of a batch that are looked up together; a bit of a LaneMask each.
inline constexpr size_t kLanesMax = net::kBatchLanesMax;
static_assert(kLanesMax == 32, "a lane is a bit of LaneMask");

// The fields of the packets at hand, by lane.
using PacketLanes = const PacketFields* const*;

// Looks up key_of(lane) of each lane, all at a time: lookup(keys, found, hits) has the keys side by
// side. Those returned have their number in numbers[lane], the others' are untouched.
template <class Key, class KeyOf, class Lookup>
LaneMask lookup_lanes(LaneMask lanes, KeyOf&& key_of, Lookup&& lookup, uint32_t* numbers) {
  std::array<Key, kLanesMax> keys;
  std::array<uint32_t, kLanesMax> found;
  std::array<uint8_t, kLanesMax> lane_of;
  size_t count = 0;
  for (const unsigned lane : lanes) {
    keys[count] = key_of(lane);
    lane_of[count++] = static_cast<uint8_t>(lane);
  }
  HitArray<kLanesMax> hits;
  lookup(std::span<const Key>(keys.data(), count), std::span(found), hits);
  LaneMask hit_lanes{};
  for (const unsigned i : LaneMask(static_cast<uint32_t>(HitWords(hits).words()[0]))) {
    hit_lanes |= LaneMask::of(lane_of[i]);
    numbers[lane_of[i]] = found[i];
  }
  return hit_lanes;
}

}  // namespace roost::classify
