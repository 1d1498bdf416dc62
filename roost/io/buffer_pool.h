// The packet buffers that all ports of a run share (a DPDK mbuf pool).
//
// It outlives every port: a port may hold buffers that another received. One pool for all ports
// keeps that true by the order of declaration alone.
#pragma once

#include <cstdint>

#include "roost/base/result.h"

struct rte_mempool;

namespace roost::io {

class BufferPool {
 public:
  struct Config {
    uint32_t buffer_count = 8192;
    uint16_t data_room_bytes =
        2048;  // a buffer's room for a frame; a larger frame takes several, chained
  };

  // EAL must have started. The room in front of the frame (RTE_PKTMBUF_HEADROOM) comes on top of
  // the data room.
  static Result<BufferPool> create(const Config& config);

  BufferPool(BufferPool&& from) noexcept;
  BufferPool& operator=(BufferPool&&) = delete;
  ~BufferPool();

  [[nodiscard]] rte_mempool* get() const { return pool_; }
  [[nodiscard]] uint32_t buffer_count() const;
  [[nodiscard]] uint16_t data_room_bytes() const { return data_room_bytes_; }
  // The memory that one buffer takes: its header, headroom and data room.
  [[nodiscard]] uint32_t bytes_of_buffer() const;

  // Buffers that are not in the pool now.
  [[nodiscard]] uint32_t in_use_count() const;

  // When nothing should be in use: takes every buffer out, checks that all are there and none
  // twice, and puts them back. A buffer freed twice or never makes it false. O(buffers).
  [[nodiscard]] bool audit() const;

 private:
  BufferPool(rte_mempool* pool, uint16_t data_room_bytes)
      : pool_(pool), data_room_bytes_(data_room_bytes) {}

  rte_mempool* pool_;
  uint16_t data_room_bytes_;
};

}  // namespace roost::io
