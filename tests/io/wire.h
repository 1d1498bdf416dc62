// A port whose other end is the test: the port receives what the test puts in, by the receive queue
// that the test chooses, and the test takes out what the port sends.
//
// A net_ring device over rings that the test holds the other side of. One thread may put, one take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/io/buffer_pool.h"

struct rte_mbuf;
struct rte_ring;

namespace roost::io {

class Wire {
 public:
  // The port gets the next number. EAL must have started; the pool is for the frames put in, of
  // which a queue holds 1,023.
  Wire(const std::string& name, uint16_t queue_count, const BufferPool& pool);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();  // the port must be closed

  [[nodiscard]] uint16_t port_id() const { return port_id_; }
  [[nodiscard]] uint16_t queue_count() const { return static_cast<uint16_t>(incoming_.size()); }

  // False when the queue or the pool has no room; the frame is to be tried again.
  [[nodiscard]] bool put(uint16_t queue, std::span<const uint8_t> frame);

  // What the port sent by any queue, in turn; none when there is nothing. Frames of one buffer.
  [[nodiscard]] std::optional<std::vector<uint8_t>> take();

 private:
  const BufferPool& pool_;
  uint16_t port_id_ = 0;
  uint16_t next_queue_ = 0;
  std::vector<rte_ring*> incoming_;
  std::vector<rte_ring*> outgoing_;
};

}  // namespace roost::io
