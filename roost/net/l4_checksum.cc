// Verification of the TCP or UDP checksum: see l4_checksum.h.
#include "roost/net/l4_checksum.h"

#include "roost/net/checksum.h"
#include "roost/net/headers.h"

namespace roost::net {

L4ChecksumVerdict verify_l4_checksum(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* l4 = packet.data + parsed.l4_offset;
  if (parsed.protocol == IpProtocol::kUdp && load_be16(l4 + udp::kChecksum) == 0) {
    return parsed.is_ipv6 ? L4ChecksumVerdict::kWrong : L4ChecksumVerdict::kRight;
  }
  if (parsed.l4_offset + parsed.l4_bytes > packet.contiguous_bytes)
    return L4ChecksumVerdict::kNotContiguous;

  const uint8_t* ip = packet.data + parsed.ip_offset;
  const size_t address_bytes = parsed.is_ipv6 ? sizeof(Ipv6Address) : sizeof(Ipv4Address);
  const uint8_t* source = ip + (parsed.is_ipv6 ? ipv6::kSource : ipv4::kSource);
  const uint8_t* destination = ip + (parsed.is_ipv6 ? ipv6::kDestination : ipv4::kDestination);
  const uint64_t sum = pseudo_header_sum({source, address_bytes}, {destination, address_bytes},
                                         parsed.protocol, parsed.l4_bytes) +
                       sum_words({l4, parsed.l4_bytes});
  return checksum_of(sum) == 0 ? L4ChecksumVerdict::kRight : L4ChecksumVerdict::kWrong;
}

}  // namespace roost::net
