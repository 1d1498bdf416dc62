// Frames that are made here, each in a buffer of its own, until a port sends them
// (PortQueue::send).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/io/buffer_pool.h"
#include "roost/net/packet_batch.h"

struct rte_mbuf;
struct rte_mempool;

namespace roost::io {

// Used by one thread. It owns its buffers, also some that no frame has yet.
class FrameBurst {
 public:
  static constexpr size_t kFramesMax = net::kBatchLanesMax;

  // The pool must outlive the burst.
  explicit FrameBurst(const BufferPool& pool);
  FrameBurst(const FrameBurst&) = delete;
  FrameBurst& operator=(const FrameBurst&) = delete;
  ~FrameBurst();

  // The bytes of the next frame, to be written; nothing if the pool has no buffer left. The burst
  // must not be full, and a frame must fit into one buffer.
  [[nodiscard]] std::span<uint8_t> append(size_t bytes);

  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] bool is_full() const { return count_ == kFramesMax; }

 private:
  friend class PortQueue;

  // Releases the frames' buffers; the span is valid until the next call.
  [[nodiscard]] std::span<rte_mbuf*> take();
  [[nodiscard]] bool refill();

  rte_mempool* pool_;
  std::array<rte_mbuf*, kFramesMax> buffers_{};  // frames first, then buffers without one
  std::array<rte_mbuf*, kFramesMax> taken_{};
  size_t count_ = 0;  // of frames
  size_t held_ = 0;   // buffers
};

}  // namespace roost::io
