#include "roost/io/port_queue.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include <algorithm>
#include <array>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

struct TransmitLock {
  rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER;
};

namespace {

// A capture port delivers packets above 65,535 bytes with a total that its segments do not have.
bool is_consistent(const rte_mbuf* buffer) {
  if (buffer->nb_segs == 1) return buffer->pkt_len == buffer->data_len;
  uint32_t segment_bytes = 0;
  for (const rte_mbuf* segment = buffer; segment != nullptr; segment = segment->next) {
    segment_bytes += segment->data_len;
  }
  return buffer->pkt_len == segment_bytes;
}

// A copy of the frame, in as many chained buffers as it needs; nullptr when the pool has too few.
rte_mbuf* copy_to_buffers(std::span<const uint8_t> frame, rte_mempool* pool) {
  rte_mbuf* head = nullptr;
  while (!frame.empty()) {
    rte_mbuf* segment = allocate_buffer(pool);
    if (segment == nullptr) {
      free_buffer(head);
      return nullptr;
    }
    const size_t bytes = std::min<size_t>(frame.size(), rte_pktmbuf_tailroom(segment));
    std::ranges::copy(frame.first(bytes), rte_pktmbuf_mtod(segment, uint8_t*));
    segment->data_len = static_cast<uint16_t>(bytes);
    segment->pkt_len = static_cast<uint32_t>(bytes);
    frame = frame.subspan(bytes);
    if (head == nullptr) {
      head = segment;
    } else {
      const int code = rte_pktmbuf_chain(head, segment);
      ROOST_ASSERT(code == 0);
    }
  }
  return head;
}

}  // namespace

std::shared_ptr<TransmitLock> make_transmit_lock() { return std::make_shared<TransmitLock>(); }

PortQueue::PortQueue(Config config)
    : port_(config.port),
      transmit_queue_(config.transmit),
      receive_(config.receive),
      next_receive_queue_(config.receive.first),
      transmit_lock_(std::move(config.transmit_lock)),
      pool_(config.pool) {}

size_t PortQueue::receive(PacketBurst& burst, size_t packet_count_max) {
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  const size_t room = net::kBatchLanesMax - burst.batch().lane_count();
  const size_t count = fetch(std::span(buffers).first(std::min(room, packet_count_max)));
  for (size_t i = 0; i < count; ++i) deliver(buffers[i], burst);
  return count;
}

size_t PortQueue::fetch(std::span<rte_mbuf*> buffers) {
  if (receive_.is_empty()) return 0;
  const uint16_t queue = next_receive_queue_;
  next_receive_queue_ = static_cast<uint16_t>(queue + receive_.stride);
  if (next_receive_queue_ >= receive_.count) next_receive_queue_ = receive_.first;
  const size_t delivered =
      rte_eth_rx_burst(port_, queue, buffers.data(), static_cast<uint16_t>(buffers.size()));
  size_t kept = 0;
  for (size_t i = 0; i < delivered; ++i) {
    takes_hold_of(buffers[i]);
    if (is_consistent(buffers[i])) {
      buffers[kept++] = buffers[i];
    } else {
      ++counters_.malformed;
      free_buffer(buffers[i]);
    }
  }
  return kept;
}

void PortQueue::deliver(rte_mbuf* buffer, PacketBurst& burst) {
  ++counters_.received;
  counters_.received_bytes += rte_pktmbuf_pkt_len(buffer);
  burst.push(buffer, port_);
}

void PortQueue::transmit(PacketBurst& burst) {
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  size_t count = 0;
  const std::span<const net::LaneVerdict> verdicts = burst.batch().verdicts();
  for (size_t lane = 0; lane < verdicts.size(); ++lane) {
    if (verdicts[lane].is_forward()) {
      if (verdicts[lane].out_port() != port_) continue;
      buffers[count] = burst.take(lane);
    } else {
      if (!burst.leaves_by(lane, port_)) continue;
      buffers[count] = burst.take(lane, port_);
      if (buffers[count] == nullptr) {
        ++counters_.no_buffer;
        continue;
      }
    }
    ++count;
  }
  send_buffers(std::span(buffers).first(count));
}

size_t PortQueue::send(FrameBurst& burst) { return send_buffers(burst.take()); }

void PortQueue::send(std::span<const uint8_t> frame) {
  ROOST_ASSERT(!frame.empty() && frame.size() <= UINT16_MAX);
  rte_mbuf* buffer = copy_to_buffers(frame, pool_);
  if (buffer == nullptr) {
    ++counters_.no_buffer;
  } else {
    send_buffers(std::span(&buffer, 1));
  }
}

// Gives the buffers to the device, and frees those that it does not take; returns how many it took,
// the first ones.
size_t PortQueue::send_buffers(std::span<rte_mbuf*> buffers) {
  if (buffers.empty()) return 0;
  uint64_t bytes = 0;  // counted now: an accepted buffer is no longer ours to ask
  for (const rte_mbuf* buffer : buffers) bytes += rte_pktmbuf_pkt_len(buffer);
  const uint16_t accepted = give_to_device(buffers);
  const std::span<rte_mbuf*> refused = buffers.subspan(accepted);
  for (const rte_mbuf* buffer : refused) bytes -= rte_pktmbuf_pkt_len(buffer);
  counters_.sent += accepted;
  counters_.sent_bytes += bytes;
  counters_.refused += refused.size();
  free_buffers(refused);
  return accepted;
}

// Hands the buffers to the device; returns how many it took, the first ones.
uint16_t PortQueue::give_to_device(std::span<rte_mbuf*> buffers) {
  const auto count = static_cast<uint16_t>(buffers.size());
  for (rte_mbuf* buffer : buffers) lets_go_of(buffer);
  if (transmit_lock_ == nullptr)
    return rte_eth_tx_burst(port_, transmit_queue_, buffers.data(), count);
  rte_spinlock_lock(&transmit_lock_->lock);
  const uint16_t accepted = rte_eth_tx_burst(port_, transmit_queue_, buffers.data(), count);
  rte_spinlock_unlock(&transmit_lock_->lock);
  return accepted;
}

}  // namespace roost::io
