#include "roost/io/buffer_pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace roost::io {

namespace {

constexpr uint32_t kCacheBuffersMax = 256;
constexpr uint16_t kDataRoomBytesMin =
    128;  // a frame's headers up to TCP or UDP in the first buffer
constexpr uint32_t kDataRoomBytesMax = UINT16_MAX - RTE_PKTMBUF_HEADROOM;

}  // namespace

Result<BufferPool> BufferPool::create(const Config& config) {
  if (config.buffer_count == 0 || config.data_room_bytes < kDataRoomBytesMin ||
      config.data_room_bytes > kDataRoomBytesMax) {
    return Error{"a buffer pool needs one buffer or more and a data room of " +
                 std::to_string(kDataRoomBytesMin) + " to " + std::to_string(kDataRoomBytesMax) +
                 " bytes"};
  }
  static uint32_t pool_number = 0;
  const std::string name = "roost_buffers_" + std::to_string(pool_number++);
  const uint32_t cache_buffers = std::min(kCacheBuffersMax, config.buffer_count / 4);
  const auto room = static_cast<uint16_t>(config.data_room_bytes + RTE_PKTMBUF_HEADROOM);
  rte_mempool* pool = rte_pktmbuf_pool_create(name.c_str(), config.buffer_count, cache_buffers, 0,
                                              room, static_cast<int>(rte_socket_id()));
  if (pool == nullptr) {
    return Error{"no memory for " + std::to_string(config.buffer_count) +
                 " packet buffers: " + rte_strerror(rte_errno) +
                 "; give EAL more with -m MEGABYTES, or ask for fewer buffers"};
  }
  return BufferPool(pool, config.data_room_bytes);
}

BufferPool::BufferPool(BufferPool&& from) noexcept
    : pool_(std::exchange(from.pool_, nullptr)), data_room_bytes_(from.data_room_bytes_) {}

BufferPool::~BufferPool() { rte_mempool_free(pool_); }

uint32_t BufferPool::buffer_count() const { return pool_->size; }

uint32_t BufferPool::bytes_of_buffer() const {
  return pool_->header_size + pool_->elt_size + pool_->trailer_size;
}

uint32_t BufferPool::in_use_count() const { return rte_mempool_in_use_count(pool_); }

bool BufferPool::audit() const {
  std::vector<void*> buffers;
  buffers.reserve(pool_->size);
  void* buffer = nullptr;
  // One more than there should be, so that a buffer that was freed twice is met twice.
  while (buffers.size() <= pool_->size && rte_mempool_get(pool_, &buffer) == 0)
    buffers.push_back(buffer);
  std::vector<void*> distinct = buffers;
  std::ranges::sort(distinct);
  const bool is_complete =
      buffers.size() == pool_->size && std::ranges::adjacent_find(distinct) == distinct.end();
  for (void* taken : buffers) rte_mempool_put(pool_, taken);
  return is_complete;
}

}  // namespace roost::io
