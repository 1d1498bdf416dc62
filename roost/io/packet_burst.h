// A batch as the datapath sees it, with the buffers behind it.
//
// A burst owns its buffers. Each is released exactly once, by take(), or freed by clear() or the
// destructor. Between push() and take() the datapath works on the views in batch():
// it may move a packet's data pointer and adjusts the lengths with it; take() applies the
// difference to the buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/net/packet_batch.h"

struct rte_mbuf;

namespace roost::io {

class PacketBurst {
 public:
  PacketBurst() = default;
  PacketBurst(const PacketBurst&) = delete;
  PacketBurst& operator=(const PacketBurst&) = delete;
  ~PacketBurst() { clear(); }

  [[nodiscard]] net::PacketBatch& batch() { return batch_; }
  [[nodiscard]] const net::PacketBatch& batch() const { return batch_; }

  // Appends a received buffer as the next lane; the burst owns it now. The burst must not be full.
  void push(rte_mbuf* buffer, uint16_t in_port,
            net::PacketOrigin origin = net::PacketOrigin::kPort);

  // The buffer behind a lane that was not taken; its lengths are those it came with.
  [[nodiscard]] const rte_mbuf* buffer(size_t lane) const { return buffers_[lane]; }

  // Releases the lane's buffer, with what the datapath did to its view. The lane must not have
  // been taken. A view whose lengths contradict its data pointer is a broken invariant of the
  // datapath.
  [[nodiscard]] rte_mbuf* take(size_t lane);

  // Frees what was not taken and empties the burst.
  void clear();

 private:
  net::PacketBatch batch_;
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers_{};  // null from take() on
};

}  // namespace roost::io
