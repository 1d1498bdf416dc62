// A frame in memory of exactly its size: a read or write outside it is seen by the address
// sanitizer.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "roost/net/packet_batch.h"

namespace roost::net {

class TestFrame {
 public:
  struct Shape {
    uint32_t headroom = 0;
    std::optional<uint32_t> contiguous_bytes;  // default: all; the rest of the frame has no memory
  };

  explicit TestFrame(std::span<const uint8_t> bytes) : TestFrame(bytes, Shape()) {}
  TestFrame(std::span<const uint8_t> bytes, const Shape& shape) {
    const uint32_t total = static_cast<uint32_t>(bytes.size());
    const uint32_t contiguous = shape.contiguous_bytes.value_or(total);
    memory_ = std::make_unique<uint8_t[]>(shape.headroom + contiguous);
    if (contiguous > 0) std::memcpy(memory_.get() + shape.headroom, bytes.data(), contiguous);
    packet = {.data = memory_.get() + shape.headroom,
              .contiguous_bytes = contiguous,
              .total_bytes = total,
              .headroom = shape.headroom,
              .in_port = 0};
  }

  // The bytes of the first segment as they are now.
  [[nodiscard]] std::vector<uint8_t> bytes() const {
    return {packet.data, packet.data + packet.contiguous_bytes};
  }

  Packet packet;

 private:
  std::unique_ptr<uint8_t[]> memory_;
};

}  // namespace roost::net
