// What a TCP segment says of its place in the two streams of its connection (RFC 9293 section 3.1).
#pragma once

#include <cstdint>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

struct TcpSegment {
  uint8_t flags = 0;             // tcp::kSyn and so on; 0 for UDP, as all of it
  uint32_t sequence = 0;         // of its first byte
  uint32_t acknowledgement = 0;  // means something with tcp::kAck only
  uint32_t length = 0;           // of what it carries, SYN and FIN included

  [[nodiscard]] constexpr bool has(uint8_t flag) const { return (flags & flag) != 0; }
  // The sequence number that its sender sends next.
  [[nodiscard]] constexpr uint32_t end() const { return sequence + length; }
  bool operator==(const TcpSegment&) const = default;
};

// Of a packet that parsed as kOk, or as the first fragment of a datagram; all zero if it is not
// TCP.
[[nodiscard]] inline TcpSegment read_tcp_segment(const Packet& packet, const ParsedPacket& parsed) {
  ROOST_DEBUG_ASSERT(!parsed.fragment.is_later());
  if (parsed.protocol != IpProtocol::kTcp) return {};
  const uint8_t* header = packet.data + parsed.l4_offset;
  const uint32_t header_bytes = 4 * (uint32_t{header[tcp::kDataOffset]} >> 4);
  TcpSegment segment = {.flags = parsed.tcp_flags,
                        .sequence = load_be32(header + tcp::kSequence),
                        .acknowledgement = load_be32(header + tcp::kAcknowledgement),
                        .length = parsed.l4_bytes - header_bytes};
  segment.length += segment.has(tcp::kSyn) ? 1U : 0U;
  segment.length += segment.has(tcp::kFin) ? 1U : 0U;
  return segment;
}

}  // namespace roost::net
