// Frames by hand, for what XDP reads of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace roost::xdp {

using Frame = std::vector<uint8_t>;

inline constexpr size_t kFrameBytes = 64;

// To this address, without a payload that means something.
inline Frame frame_to_mac(uint64_t mac) {
  Frame frame(kFrameBytes);
  for (size_t i = 0; i < 6; ++i) frame[i] = static_cast<uint8_t>(mac >> (40 - 8 * i));
  frame[6] = 0x02;  // from 02:00:00:00:00:00
  frame[12] = 0x88;
  frame[13] = 0xb5;  // of local experiments
  return frame;
}

// To this IPv4 address, behind so many VLAN tags.
inline Frame frame_to_ipv4(uint32_t address, size_t tags = 0) {
  Frame frame(kFrameBytes);
  size_t at = 12;
  for (size_t tag = 0; tag < tags; ++tag, at += 4) frame[at] = 0x81;
  frame[at] = 0x08;
  frame[at + 2] = 0x45;
  for (size_t i = 0; i < 4; ++i) frame[at + 18 + i] = static_cast<uint8_t>(address >> (24 - 8 * i));
  return frame;
}

}  // namespace roost::xdp
