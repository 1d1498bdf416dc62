// Verification of the TCP or UDP checksum of a parsed packet.
#pragma once

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

enum class L4ChecksumVerdict : uint8_t {
  kRight,          // right, or UDP over IPv4 without one
  kWrong,          // wrong, or UDP over IPv6 without one (RFC 8200 section 8.1)
  kNotContiguous,  // the payload goes on in another segment, which is not read
};

// Sums the whole TCP or UDP part: time grows with the packet. `packet` must have parsed as kOk.
[[nodiscard]] L4ChecksumVerdict verify_l4_checksum(const Packet& packet,
                                                   const ParsedPacket& parsed);

}  // namespace roost::net
