#include "roost/io/packet_burst.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <span>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"
#include "roost/net/rewrite.h"

namespace roost::io {

namespace {

net::Packet view_of(rte_mbuf* buffer) {
  return {.data = rte_pktmbuf_mtod(buffer, uint8_t*),
          .contiguous_bytes = rte_pktmbuf_data_len(buffer),
          .total_bytes = rte_pktmbuf_pkt_len(buffer),
          .headroom = rte_pktmbuf_headroom(buffer)};
}

// What the datapath did to the view. The data pointer is the truth: forward by n bytes takes them
// from the first segment and from the frame.
void apply(const net::Packet& packet, rte_mbuf* buffer) {
  const ptrdiff_t moved = packet.data - rte_pktmbuf_mtod(buffer, uint8_t*);
  buffer->data_off = static_cast<uint16_t>(buffer->data_off + moved);
  buffer->data_len = static_cast<uint16_t>(buffer->data_len - moved);
  buffer->pkt_len = static_cast<uint32_t>(buffer->pkt_len - moved);
  ROOST_ASSERT(packet.contiguous_bytes == buffer->data_len);
  ROOST_ASSERT(packet.total_bytes == buffer->pkt_len);
  ROOST_ASSERT(packet.headroom == buffer->data_off);
}

void edit_tags(const net::PortGroup& group, rte_mbuf* buffer) {
  net::Packet packet = view_of(buffer);
  const bool has_room = net::edit_vlan_tags(packet, group.popped, group.pushed);
  ROOST_ASSERT(has_room);
  apply(packet, buffer);
}

}  // namespace

void PacketBurst::push(rte_mbuf* buffer, uint16_t in_port, net::PacketOrigin origin) {
  const size_t lane = batch_.lane_count();
  net::Packet packet = view_of(buffer);
  packet.in_port = in_port;
  packet.origin = origin;
  batch_.push(packet);
  buffers_[lane] = buffer;
  ++held_;
}

rte_mbuf* PacketBurst::take(size_t lane) {
  rte_mbuf* buffer = std::exchange(buffers_[lane], nullptr);
  ROOST_ASSERT(buffer != nullptr);
  --held_;
  apply(batch_.packets()[lane], buffer);
  return buffer;
}

void PacketBurst::replicate() {
  replicas_.resize(batch_.replication_count());
  for (size_t lane = 0; lane < batch_.lane_count(); ++lane) {
    if (!batch_.verdicts()[lane].is_replicated()) continue;
    const std::span<const net::PortGroup> groups = batch_.port_groups(lane);
    Replicas& replicas = replicas_[batch_.verdicts()[lane].replication()];
    rte_mbuf* original = take(lane);
    for (size_t i = groups.size(); i-- > 0;) {  // the copies first: the original is changed last
      rte_mbuf* buffer =
          i == 0 ? original : rte_pktmbuf_copy(original, original->pool, 0, UINT32_MAX);
      takes_hold_of(buffer);
      replicas[i] = {buffer, groups[i].ports};
      if (buffer == nullptr) continue;
      edit_tags(groups[i], buffer);
      rte_pktmbuf_refcnt_update(buffer, static_cast<int16_t>(groups[i].ports.count() - 1));
    }
  }
}

PacketBurst::Replica* PacketBurst::find_replica(size_t lane, uint16_t port) {
  const net::LaneVerdict verdict = batch_.verdicts()[lane];
  if (!verdict.is_replicated() || port >= net::kReplicatedPortsMax) return nullptr;
  Replicas& replicas = replicas_[verdict.replication()];
  const auto found = std::ranges::find_if(
      replicas, [port](const Replica& replica) { return replica.ports.has(port); });
  return found == replicas.end() ? nullptr : &*found;
}

bool PacketBurst::leaves_by(size_t lane, uint16_t port) {
  return find_replica(lane, port) != nullptr;
}

rte_mbuf* PacketBurst::take(size_t lane, uint16_t port) {
  Replica* replica = find_replica(lane, port);
  ROOST_ASSERT(replica != nullptr);
  replica->ports = replica->ports - net::PortSet::of(port);
  return replica->buffer;
}

void PacketBurst::clear() {
  if (held_ != 0) {
    const std::span<rte_mbuf*> left = std::span(buffers_).first(batch_.lane_count());
    free_buffers(left);
    std::ranges::fill(left, nullptr);
    held_ = 0;
  }
  for (const Replicas& replicas : replicas_) {
    for (const Replica& replica : replicas) {
      for (size_t i = 0; i < replica.ports.count(); ++i) free_buffer(replica.buffer);
    }
  }
  replicas_.clear();
  batch_.clear();
}

}  // namespace roost::io
