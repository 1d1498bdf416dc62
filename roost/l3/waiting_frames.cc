#include "roost/l3/waiting_frames.h"

#include <algorithm>

#include "roost/base/assert.h"

namespace roost::l3 {

void WaitingFrames::push(FrameQueue& queue, std::span<const uint8_t> frame) {
  ROOST_ASSERT(has_room(frame.size()));
  const uint32_t buffer = take(free_);
  std::ranges::copy(frame, bytes_.begin() + static_cast<ptrdiff_t>(buffer * frame_bytes_max_));
  buffers_[buffer].frame_bytes = static_cast<uint32_t>(frame.size());
  put(queue, buffer);
}

std::span<uint8_t> WaitingFrames::front(const FrameQueue& queue) {
  ROOST_ASSERT(queue.count != 0);
  return std::span(bytes_).subspan(queue.first * frame_bytes_max_,
                                   buffers_[queue.first].frame_bytes);
}

void WaitingFrames::put(FrameQueue& queue, uint32_t buffer) {
  buffers_[buffer].next = FrameQueue::kNone;
  if (queue.count == 0) {
    queue.first = buffer;
  } else {
    buffers_[queue.last].next = buffer;
  }
  queue.last = buffer;
  ++queue.count;
}

uint32_t WaitingFrames::take(FrameQueue& queue) {
  ROOST_ASSERT(queue.count != 0);
  const uint32_t buffer = queue.first;
  queue.first = buffers_[buffer].next;
  --queue.count;
  return buffer;
}

}  // namespace roost::l3
