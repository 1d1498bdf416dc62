// Frames that wait for their neighbour's MAC: copies, in buffers of one size that are all made at
// the start. Each neighbour has a queue of them, a chain of buffers; the free ones are a chain too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace roost::l3 {

// First to come, first to leave. Empty as made.
struct FrameQueue {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t first = kNone;
  uint32_t last = kNone;
  uint32_t count = 0;
};

// One worker's.
class WaitingFrames {
 public:
  struct Config {
    uint32_t frame_count_max = 256;  // in all queues together
    uint32_t frame_bytes_max = 1522;
  };

  explicit WaitingFrames(const Config& config)
      : bytes_(size_t{config.frame_count_max} * config.frame_bytes_max),
        buffers_(config.frame_count_max),
        frame_bytes_max_(config.frame_bytes_max) {
    for (uint32_t i = 0; i < config.frame_count_max; ++i) put(free_, i);
  }

  [[nodiscard]] bool has_room(size_t frame_bytes) const {
    return free_.count != 0 && frame_bytes <= frame_bytes_max_;
  }
  // How many wait, in all queues.
  [[nodiscard]] uint32_t frame_count() const {
    return static_cast<uint32_t>(buffers_.size()) - free_.count;
  }

  // There must be room. `frame` is copied.
  void push(FrameQueue& queue, std::span<const uint8_t> frame);

  // The queue's first frame, to be changed before it is sent; the queue must not be empty.
  [[nodiscard]] std::span<uint8_t> front(const FrameQueue& queue);
  void pop(FrameQueue& queue) { put(free_, take(queue)); }

 private:
  struct Buffer {
    uint32_t next = FrameQueue::kNone;
    uint32_t frame_bytes = 0;
  };

  void put(FrameQueue& queue, uint32_t buffer);
  uint32_t take(FrameQueue& queue);

  std::vector<uint8_t> bytes_;
  std::vector<Buffer> buffers_;
  size_t frame_bytes_max_;
  FrameQueue free_;
};

}  // namespace roost::l3
