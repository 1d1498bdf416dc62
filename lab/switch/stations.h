// The stations that a switch is measured with, half of them at each of two ports, and the frames
// that they send to each other.
//
// A station is a number; its address is a permutation of it, so stations that follow each other lie
// anywhere in a table.
#pragma once

#include <array>
#include <cstdint>

#include "roost/bridge/fdb_entry.h"

namespace roost::lab {

inline constexpr uint16_t kStationVlan = 10;
inline constexpr uint64_t kStationsMax = uint64_t{1} << 46;
inline constexpr size_t kStationFrameBytes = 60;
using StationFrame = std::array<uint8_t, kStationFrameBytes>;

[[nodiscard]] bridge::FdbKey key_of_station(uint64_t station);
[[nodiscard]] constexpr uint16_t port_of_station(uint64_t station) {
  return static_cast<uint16_t>(station & 1);
}

// Without a tag, from a station to another.
[[nodiscard]] StationFrame frame_between(uint64_t source, uint64_t destination);

}  // namespace roost::lab
