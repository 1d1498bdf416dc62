// The Ethernet header of a frame that is originated here: addresses, VLAN tags, EtherType.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"

namespace roost::net {

struct FrameHeader {
  MacPair macs{};
  VlanTags vlan{};
  uint16_t ether_type = 0;

  [[nodiscard]] size_t byte_count() const {
    return ethernet::kHeaderBytes + vlan.count * vlan::kTagBytes;
  }
};

// Writes the header to the start of `frame`, which must have room for it; returns what follows it.
inline std::span<uint8_t> write_frame_header(std::span<uint8_t> frame, const FrameHeader& header) {
  ROOST_DEBUG_ASSERT(frame.size() >= header.byte_count());
  std::ranges::copy(header.macs.destination.bytes, frame.begin() + ethernet::kDestination);
  std::ranges::copy(header.macs.source.bytes, frame.begin() + ethernet::kSource);
  size_t at = ethernet::kAddressesBytes;
  for (size_t i = 0; i < header.vlan.count; ++i) {
    store_be16(&frame[at], header.vlan.tags[i].protocol_identifier);
    store_be16(&frame[at + 2], header.vlan.tags[i].control);
    at += vlan::kTagBytes;
  }
  store_be16(&frame[at], header.ether_type);
  return frame.subspan(at + ethernet::kEtherTypeBytes);
}

}  // namespace roost::net
