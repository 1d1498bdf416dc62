#include "roost/io/capture_merge.h"

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

Result<CaptureMerge> CaptureMerge::create(std::span<const Source> sources,
                                          uint64_t tick_microseconds) {
  ROOST_ASSERT(tick_microseconds > 0);
  const int offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, nullptr);
  if (offset < 0) {
    return Error{
        "no device stamps its packets with their time; a replay needs net_pcap devices with "
        "rx_pcap"};
  }
  CaptureMerge merge(tick_microseconds, static_cast<size_t>(offset));
  for (const Source& source : sources) {
    merge.queues_.push_back({.port = source.port, .packet_count = source.packet_count});
  }
  return merge;
}

CaptureMerge::~CaptureMerge() {
  for (Queue& queue : queues_) {
    free_buffers(std::span(queue.buffers).first(queue.count).subspan(queue.head));
  }
}

// Fetches until there is a packet or the source has ended. Each round delivers a packet, finds a
// lost one, or ends the source, so there are at most packet_count rounds in all.
void CaptureMerge::refill(Queue& queue) {
  while (queue.head == queue.count && !queue.has_ended) {
    const uint64_t left = queue.packet_count - queue.delivered - queue.lost;
    // Never more than the file holds: a read past a cut would count as a lost packet.
    const size_t wanted = std::min<uint64_t>(left, queue.buffers.size());
    queue.head = 0;
    queue.count =
        wanted == 0 ? 0 : queue.port->queue().fetch(std::span(queue.buffers).first(wanted));
    queue.delivered += queue.count;
    if (queue.count == wanted) {
      queue.has_ended = wanted == 0;
      continue;
    }
    const DeviceCounters device = queue.port->read_device_counters();
    const uint64_t lost_before = queue.lost;
    queue.lost =
        std::min(device.no_buffer + device.receive_errors + queue.port->counters().malformed,
                 queue.packet_count - queue.delivered);
    queue.has_ended = queue.count == 0 && queue.lost == lost_before;
  }
}

uint64_t CaptureMerge::head_timestamp_us(const Queue& queue) const {
  return *RTE_MBUF_DYNFIELD(queue.buffers[queue.head], timestamp_offset_, rte_mbuf_timestamp_t*);
}

// The queue whose first packet is next, or nullptr when all have ended.
CaptureMerge::Queue* CaptureMerge::earliest() {
  Queue* earliest = nullptr;
  uint64_t earliest_us = 0;
  for (Queue& queue : queues_) {
    refill(queue);
    if (queue.head == queue.count) continue;
    const uint64_t timestamp_us = head_timestamp_us(queue);
    if (earliest != nullptr && timestamp_us >= earliest_us) continue;
    earliest = &queue;
    earliest_us = timestamp_us;
  }
  return earliest;
}

std::optional<Tick> CaptureMerge::next(PacketBurst& burst) {
  ROOST_ASSERT(burst.batch().is_empty());
  std::optional<Tick> tick;
  while (!burst.batch().is_full()) {
    Queue* const queue = earliest();
    if (queue == nullptr) break;
    const uint64_t packet_us = std::max(now_us_, head_timestamp_us(*queue));
    const Tick packet_tick{packet_us / tick_microseconds_};
    if (tick && packet_tick != *tick) break;
    tick = packet_tick;
    now_us_ = packet_us;
    queue->port->queue().deliver(queue->buffers[queue->head++], burst);
  }
  return tick;
}

CaptureMerge::SourceReport CaptureMerge::report(size_t source) const {
  const Queue& queue = queues_[source];
  return {.delivered = queue.delivered,
          .lost = queue.lost,
          .missing = queue.has_ended ? queue.packet_count - queue.delivered - queue.lost : 0,
          .has_ended = queue.has_ended};
}

}  // namespace roost::io
