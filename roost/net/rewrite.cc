// Rewrites in place: see rewrite.h.
#include "roost/net/rewrite.h"

#include <cstring>

namespace roost::net {

bool replace_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted) {
  ROOST_DEBUG_ASSERT(wanted.count <= vlan::kTagsMax);
  const uint32_t tag_bytes_before = parsed.vlan.count * uint32_t{vlan::kTagBytes};
  const uint32_t tag_bytes_after = wanted.count * uint32_t{vlan::kTagBytes};
  if (tag_bytes_after > tag_bytes_before + packet.headroom) return false;

  uint8_t* start = packet.data + tag_bytes_before - tag_bytes_after;
  std::memmove(start, packet.data, ethernet::kAddressesBytes);
  for (size_t i = 0; i < wanted.count; ++i) {
    uint8_t* tag = start + ethernet::kAddressesBytes + i * vlan::kTagBytes;
    store_be16(tag, wanted.tags[i].protocol_identifier);
    store_be16(tag + 2, wanted.tags[i].control);
  }
  packet.data = start;
  packet.headroom = packet.headroom + tag_bytes_before - tag_bytes_after;
  packet.contiguous_bytes = packet.contiguous_bytes - tag_bytes_before + tag_bytes_after;
  packet.total_bytes = packet.total_bytes - tag_bytes_before + tag_bytes_after;
  const auto moved = [&](uint16_t offset) {
    return static_cast<uint16_t>(offset - tag_bytes_before + tag_bytes_after);
  };
  parsed.ip_offset = moved(parsed.ip_offset);
  parsed.l4_offset = moved(parsed.l4_offset);
  parsed.vlan = wanted;
  return true;
}

}  // namespace roost::net
