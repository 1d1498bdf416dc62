#include "roost/io/packet_burst.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <span>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

void PacketBurst::push(rte_mbuf* buffer, uint16_t in_port, net::PacketOrigin origin) {
  const size_t lane = batch_.lane_count();
  batch_.push({.data = rte_pktmbuf_mtod(buffer, uint8_t*),
               .contiguous_bytes = rte_pktmbuf_data_len(buffer),
               .total_bytes = rte_pktmbuf_pkt_len(buffer),
               .headroom = rte_pktmbuf_headroom(buffer),
               .in_port = in_port,
               .origin = origin});
  buffers_[lane] = buffer;
}

rte_mbuf* PacketBurst::take(size_t lane) {
  rte_mbuf* buffer = std::exchange(buffers_[lane], nullptr);
  ROOST_ASSERT(buffer != nullptr);
  const net::Packet& packet = batch_.packets()[lane];
  // The data pointer is the truth: forward by n bytes takes them from the first segment and from
  // the frame.
  const ptrdiff_t moved = packet.data - rte_pktmbuf_mtod(buffer, uint8_t*);
  buffer->data_off = static_cast<uint16_t>(buffer->data_off + moved);
  buffer->data_len = static_cast<uint16_t>(buffer->data_len - moved);
  buffer->pkt_len = static_cast<uint32_t>(buffer->pkt_len - moved);
  ROOST_ASSERT(packet.contiguous_bytes == buffer->data_len);
  ROOST_ASSERT(packet.total_bytes == buffer->pkt_len);
  ROOST_ASSERT(packet.headroom == buffer->data_off);
  return buffer;
}

void PacketBurst::clear() {
  const std::span<rte_mbuf*> left = std::span(buffers_).first(batch_.lane_count());
  free_buffers(left);
  std::ranges::fill(left, nullptr);
  batch_.clear();
}

}  // namespace roost::io
