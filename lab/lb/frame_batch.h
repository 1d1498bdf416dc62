// Frames made here, in buffers of their own, as the batch that a worker would have received.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lab/lb/flows.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {

class FrameBatch {
 public:
  FrameBatch() = default;
  FrameBatch(const FrameBatch&) = delete;  // packets point into it
  FrameBatch& operator=(const FrameBatch&) = delete;

  void push(const Frame& frame) {
    uint8_t* data = buffers_[batch_.lane_count()].data() + kHeadroom;
    std::ranges::copy(frame, data);
    batch_.push({.data = data,
                 .contiguous_bytes = kFrameBytes,
                 .total_bytes = kFrameBytes,
                 .headroom = kHeadroom});
  }
  void clear() { batch_.clear(); }

  [[nodiscard]] net::PacketBatch& batch() { return batch_; }
  [[nodiscard]] size_t lane_count() const { return batch_.lane_count(); }

 private:
  static constexpr uint32_t kHeadroom = 128;

  net::PacketBatch batch_;
  std::array<std::array<uint8_t, kHeadroom + kFrameBytes>, net::kBatchLanesMax> buffers_{};
};

}  // namespace roost::lab
