#include "tests/io/wire.h"

#include <rte_eth_ring.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

namespace {

constexpr unsigned kRingSlots = 1'024;

rte_ring* make_ring(const std::string& name, uint16_t queue) {
  // Several workers may send by one queue.
  rte_ring* ring = rte_ring_create((name + std::to_string(queue)).c_str(), kRingSlots,
                                   static_cast<int>(rte_socket_id()), RING_F_SC_DEQ);
  ROOST_ASSERT(ring != nullptr);
  return ring;
}

void free_ring(rte_ring* ring) {
  void* buffer = nullptr;
  while (rte_ring_dequeue(ring, &buffer) == 0) free_buffer(static_cast<rte_mbuf*>(buffer));
  rte_ring_free(ring);
}

}  // namespace

Wire::Wire(const std::string& name, uint16_t queue_count, const BufferPool& pool) : pool_(pool) {
  for (uint16_t queue = 0; queue < queue_count; ++queue) {
    incoming_.push_back(make_ring(name + "_in", queue));
    outgoing_.push_back(make_ring(name + "_out", queue));
  }
  const int id = rte_eth_from_rings(name.c_str(), incoming_.data(), queue_count, outgoing_.data(),
                                    queue_count, rte_socket_id());
  ROOST_ASSERT(id >= 0);
  port_id_ = static_cast<uint16_t>(id);
}

Wire::~Wire() {
  std::ranges::for_each(incoming_, free_ring);
  std::ranges::for_each(outgoing_, free_ring);
}

bool Wire::put(uint16_t queue, std::span<const uint8_t> frame) {
  if (rte_ring_full(incoming_[queue]) != 0) return false;
  rte_mbuf* buffer = allocate_buffer(pool_.get());
  if (buffer == nullptr) return false;
  char* data = rte_pktmbuf_append(buffer, static_cast<uint16_t>(frame.size()));
  ROOST_ASSERT(data != nullptr);
  std::ranges::copy(frame, reinterpret_cast<uint8_t*>(data));
  lets_go_of(buffer);
  const int code = rte_ring_enqueue(incoming_[queue], buffer);
  ROOST_ASSERT(code == 0);
  return true;
}

std::optional<std::vector<uint8_t>> Wire::take() {
  void* object = nullptr;
  for (uint16_t i = 0; i < queue_count(); ++i) {
    next_queue_ = static_cast<uint16_t>((next_queue_ + 1) % queue_count());
    if (rte_ring_dequeue(outgoing_[next_queue_], &object) == 0) break;
  }
  if (object == nullptr) return {};
  auto* buffer = static_cast<rte_mbuf*>(object);
  takes_hold_of(buffer);
  const auto* data = rte_pktmbuf_mtod(buffer, const uint8_t*);
  std::vector<uint8_t> frame(data, data + rte_pktmbuf_data_len(buffer));
  free_buffer(buffer);
  return frame;
}

}  // namespace roost::io
