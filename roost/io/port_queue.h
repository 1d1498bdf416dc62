// One worker's way into and out of a port: the receive queues it polls, the transmit queue it sends
// by, and what it moved, counted.
//
// A device may have fewer queues than there are workers. Each of its receive queues is polled by
// one worker; a worker without one receives nothing here, and gets its packets by handoff
// (handoff.h). A transmit queue may be several workers': then a lock is held for the length of
// one burst. A ring to the queue's own worker would do instead, but a lock is taken once a burst,
// mostly uncontended, while a ring would move every packet's line to another core and be one more
// place where packets wait and get lost.
//
// A transmit that the device refuses is not tried again: the packet is freed and counted, so that
// received + originated + replicated = sent + refused + no_buffer + dropped + consumed can be
// checked at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "roost/io/counters.h"
#include "roost/io/frame_burst.h"
#include "roost/io/packet_burst.h"

struct rte_mbuf;
struct rte_mempool;

namespace roost::io {

struct TransmitLock;

// Queues of a port, of which one worker polls every `stride`th from `first` on.
struct ReceiveQueues {
  uint16_t first = 0;
  uint16_t stride = 1;
  uint16_t count = 0;  // of the port; with `first` not below it the worker polls none

  [[nodiscard]] bool is_empty() const { return first >= count; }
};

// Used by one worker only; two workers' do not share a cache line.
class alignas(64) PortQueue {
 public:
  struct Config {
    uint16_t port = 0;
    ReceiveQueues receive{};
    uint16_t transmit = 0;
    std::shared_ptr<TransmitLock> transmit_lock{};  // null: no other thread sends by this queue
    rte_mempool* pool = nullptr;  // what the device receives into, and send() takes from
  };

  explicit PortQueue(Config config);

  // Appends up to `packet_count_max` received packets to the burst, which must have room; returns
  // how many. Of several receive queues it polls the next one at each call.
  size_t receive(PacketBurst& burst, size_t packet_count_max);
  [[nodiscard]] bool can_receive() const { return !receive_.is_empty(); }

  // The two halves of receive, for callers that hold packets back: fetch takes buffers from the
  // device, and the caller owns them; deliver appends one to a burst with room
  // and counts it.
  [[nodiscard]] size_t fetch(std::span<rte_mbuf*> buffers);
  void deliver(rte_mbuf* buffer, PacketBurst& burst);

  // Sends the lanes of the burst that are to leave by this port, or by it too, in their order. They
  // are gone from the burst afterwards, sent or refused.
  void transmit(PacketBurst& burst);

  // Sends the burst's frames, in their order, and empties it. Returns how many were sent: the first
  // ones; the others were refused.
  size_t send(FrameBurst& burst);

  // Sends a copy of a frame of 1 to 65,535 bytes. It is sent, refused, or found no buffer, and
  // counted as that.
  void send(std::span<const uint8_t> frame);

  [[nodiscard]] const PortCounters& counters() const { return counters_; }

 private:
  size_t send_buffers(std::span<rte_mbuf*> buffers);
  [[nodiscard]] uint16_t give_to_device(std::span<rte_mbuf*> buffers);

  uint16_t port_;
  uint16_t transmit_queue_;
  ReceiveQueues receive_;
  uint16_t next_receive_queue_;
  std::shared_ptr<TransmitLock> transmit_lock_;
  rte_mempool* pool_;
  PortCounters counters_;
};
static_assert(sizeof(PortQueue) == 128, "two cache lines of its own");

// A lock for the workers that share a transmit queue.
[[nodiscard]] std::shared_ptr<TransmitLock> make_transmit_lock();

}  // namespace roost::io
