// Rewrites in place: see rewrite.h.
#include "roost/net/rewrite.h"

#include <cstring>

namespace roost::net {

bool edit_vlan_tags(Packet& packet, size_t popped, const VlanTags& pushed) {
  ROOST_DEBUG_ASSERT(pushed.count <= vlan::kTagsMax);
  const auto bytes_before = static_cast<uint32_t>(popped * vlan::kTagBytes);
  const uint32_t bytes_after = pushed.count * uint32_t{vlan::kTagBytes};
  if (bytes_after > bytes_before + packet.headroom) return false;

  uint8_t* start = packet.data + bytes_before - bytes_after;
  std::memmove(start, packet.data, ethernet::kAddressesBytes);
  for (size_t i = 0; i < pushed.count; ++i) {
    uint8_t* tag = start + ethernet::kAddressesBytes + i * vlan::kTagBytes;
    store_be16(tag, pushed.tags[i].protocol_identifier);
    store_be16(tag + 2, pushed.tags[i].control);
  }
  packet.data = start;
  packet.headroom = packet.headroom + bytes_before - bytes_after;
  packet.contiguous_bytes = packet.contiguous_bytes - bytes_before + bytes_after;
  packet.total_bytes = packet.total_bytes - bytes_before + bytes_after;
  return true;
}

bool replace_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted) {
  if (!edit_vlan_tags(packet, parsed.vlan.count, wanted)) return false;
  const ptrdiff_t added = (wanted.count - parsed.vlan.count) * ptrdiff_t{vlan::kTagBytes};
  const auto moved = [&](uint16_t offset) { return static_cast<uint16_t>(offset + added); };
  parsed.ip_offset = moved(parsed.ip_offset);
  parsed.l4_offset = moved(parsed.l4_offset);
  parsed.vlan = wanted;
  return true;
}

}  // namespace roost::net
