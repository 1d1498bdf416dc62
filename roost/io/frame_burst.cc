#include "roost/io/frame_burst.h"

#include <rte_mbuf.h>

#include <algorithm>
#include <utility>

#include "roost/base/assert.h"
#include "roost/io/buffer.h"

namespace roost::io {

FrameBurst::FrameBurst(const BufferPool& pool) : pool_(pool.get()) {}

FrameBurst::~FrameBurst() { free_buffers(std::span(buffers_).first(held_)); }

std::span<uint8_t> FrameBurst::append(size_t bytes) {
  ROOST_ASSERT(!is_full());
  if (count_ == held_ && !refill()) return {};
  rte_mbuf* buffer = buffers_[count_];
  char* data = rte_pktmbuf_append(buffer, static_cast<uint16_t>(bytes));
  ROOST_ASSERT(data != nullptr);
  ++count_;
  return {reinterpret_cast<uint8_t*>(data), bytes};
}

std::span<rte_mbuf*> FrameBurst::take() {
  const size_t count = std::exchange(count_, 0);
  std::copy_n(buffers_.begin(), count, taken_.begin());
  std::copy(buffers_.begin() + static_cast<ptrdiff_t>(count),
            buffers_.begin() + static_cast<ptrdiff_t>(held_), buffers_.begin());
  held_ -= count;
  return std::span(taken_).first(count);
}

// All at once; near the pool's end one by one.
bool FrameBurst::refill() {
  const auto wanted = static_cast<unsigned>(kFramesMax - held_);
  if (rte_pktmbuf_alloc_bulk(pool_, &buffers_[held_], wanted) == 0) {
    for (rte_mbuf* buffer : std::span(buffers_).subspan(held_, wanted)) takes_hold_of(buffer);
    held_ += wanted;
    return true;
  }
  buffers_[held_] = allocate_buffer(pool_);
  if (buffers_[held_] == nullptr) return false;
  ++held_;
  return true;
}

}  // namespace roost::io
