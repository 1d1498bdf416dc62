#include "roost/trace/packet_trace.h"

#include "roost/base/assert.h"
#include "roost/net/rewrite.h"

namespace roost::trace {

PacketTrace::Form sent_by(const PacketTrace& trace, const net::PortGroup& group) {
  constexpr uint32_t kTagsBytesMax = net::vlan::kTagsMax * net::vlan::kTagBytes;
  std::array<uint8_t, kTagsBytesMax + kTracedBytesMax> bytes;
  std::ranges::copy(trace.sent.kept(), bytes.begin() + kTagsBytesMax);
  net::Packet packet{.data = bytes.data() + kTagsBytesMax,
                     .contiguous_bytes = trace.sent.kept_bytes,
                     .total_bytes = trace.sent.total_bytes,
                     .headroom = kTagsBytesMax};
  const bool has_room = net::edit_vlan_tags(packet, group.popped, group.pushed);
  ROOST_ASSERT(has_room);
  PacketTrace::Form form;
  form.keep({packet.data, packet.contiguous_bytes}, packet.total_bytes);
  return form;
}

}  // namespace roost::trace
