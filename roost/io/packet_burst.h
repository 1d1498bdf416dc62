// A batch as the datapath sees it, with the buffers behind it.
//
// A burst owns its buffers. Each is released exactly once, by take(), or freed by clear() or the
// destructor. Between push() and take() the datapath works on the views in batch():
// it may move a packet's data pointer and adjusts the lengths with it; take() applies the
// difference to the buffer.
//
// A lane that leaves by several ports has a buffer for each of its port groups, from replicate()
// on, with a reference for each port: every port sends the same buffer, which is freed with the
// last reference. A device that hands what it sends to another receiver of this process must not be
// among them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  // Makes the buffers of all lanes that leave by several ports, once the batch is decided.
  void replicate();

  // Whether the lane, once replicated, leaves by that port too. Then take(lane, port) releases the
  // port's reference; nullptr if there was no buffer for a copy.
  [[nodiscard]] bool leaves_by(size_t lane, uint16_t port);
  [[nodiscard]] rte_mbuf* take(size_t lane, uint16_t port);

  // Whether every buffer was taken, so that there is nothing to send or to free.
  [[nodiscard]] bool holds_nothing() const { return held_ == 0 && replicas_.empty(); }

  // Frees what was not taken and empties the burst.
  void clear();

 private:
  // A port group's buffer, and the ports that have a reference to it; nullptr: there was none left.
  struct Replica {
    rte_mbuf* buffer = nullptr;
    net::PortSet ports{};
  };
  using Replicas = std::array<Replica, net::kPortGroupsMax>;

  // The lane's buffer for that port, which has not taken it.
  [[nodiscard]] Replica* find_replica(size_t lane, uint16_t port);

  net::PacketBatch batch_;
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers_{};  // null from take() on
  size_t held_ = 0;                                       // those that are not null
  std::vector<Replicas> replicas_;                        // by replication of the batch
};

}  // namespace roost::io
