// What must hold for every frame whatsoever, valid or not. Used with random frames by the tests and
// with found ones by the fuzz target; a violation ends the process.
#pragma once

#include <cstdint>
#include <span>

namespace roost::net {

// How check_frame presents and rewrites a frame; any values are allowed.
struct FrameChoices {
  uint8_t cut_bytes = 0;   // this many last bytes are in another segment
  uint8_t vlan_count = 0;  // wanted tags, modulo 3
  bool rewrites_source = false;
};

// Parses the frame from memory of its exact size. If it is kOk, rewrites everything rewritable,
// parses again and compares: same verdict, the rewritten tuple, checksums as right or wrong as
// before, and no other byte changed. Returns whether the frame was kOk.
bool check_frame(std::span<const uint8_t> frame, const FrameChoices& choices);

}  // namespace roost::net
