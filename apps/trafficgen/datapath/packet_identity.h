// Which packet a frame is, wherever it went: the last bytes of its IP packet, which nobody on the
// way changes, be it translated or put into a tunnel.
//
//   id (4 bytes) | check (2 bytes)
//
// Ids count the packets of a run. The check is of the id and of the run, so that bytes of others
// are taken for a packet once in 65,536 times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/net/byte_order.h"
#include "roost/traffic/draw.h"

namespace roost::trafficgen {

inline constexpr size_t kIdentityBytes = 6;

class PacketIdentity {
 public:
  // Of a run, by a number of its own.
  explicit PacketIdentity(uint64_t run) : run_(run) {}

  void write(std::span<uint8_t, kIdentityBytes> bytes, uint32_t id) const {
    net::store_be32(bytes.data(), id);
    net::store_be16(&bytes[4], check_of(id));
  }
  [[nodiscard]] std::optional<uint32_t> read(std::span<const uint8_t, kIdentityBytes> bytes) const {
    const uint32_t id = net::load_be32(bytes.data());
    if (net::load_be16(&bytes[4]) != check_of(id)) return {};
    return id;
  }

 private:
  [[nodiscard]] uint16_t check_of(uint32_t id) const {
    return static_cast<uint16_t>(traffic::mix(run_ ^ id) >> 48);
  }

  uint64_t run_;
};

}  // namespace roost::trafficgen
