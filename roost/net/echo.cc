#include "roost/net/echo.h"

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"
#include "roost/net/rewrite.h"

namespace roost::net {
namespace {

constexpr uint8_t kReplyTtl = 64;  // RFC 1700's default
constexpr size_t kEchoBytesMin = 8;

void exchange(uint8_t* a, uint8_t* b, size_t bytes) { std::swap_ranges(a, a + bytes, b); }

}  // namespace

bool is_echo_request(const Packet& packet, const ParsedPacket& parsed) {
  const IpProtocol protocol = parsed.is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4;
  if (parsed.fragment.is_one() || parsed.protocol != protocol || parsed.l4_bytes < kEchoBytesMin ||
      parsed.l4_offset + kEchoBytesMin > packet.contiguous_bytes) {
    return false;
  }
  const uint8_t* header = packet.data + parsed.l4_offset;
  return header[icmp::kType] == (parsed.is_ipv6 ? icmpv6::kEchoRequest : icmp::kEchoRequest4) &&
         header[icmp::kCode] == 0;
}

void reply_to_echo(const Packet& packet, ParsedPacket& parsed) {
  ROOST_DEBUG_ASSERT(is_echo_request(packet, parsed));
  uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* header = packet.data + parsed.l4_offset;
  static_assert(icmp::kType == icmpv6::kType && icmp::kChecksum == icmpv6::kChecksum);

  // Exchanged addresses do not change a sum; ICMPv6's pseudo header has both.
  const uint16_t type_before = load_be16(header + icmp::kType);
  header[icmp::kType] = parsed.is_ipv6 ? icmpv6::kEchoReply : icmp::kEchoReply4;
  ChecksumChange change;
  change.change16(type_before, load_be16(header + icmp::kType));
  uint16_t checksum = change.apply(load_be16(header + icmp::kChecksum));
  // A reply of zeroes only has the checksum 0xffff, and everywhere else 0xffff is as right as 0.
  if (checksum == 0 && !parsed.is_ipv6) checksum = 0xffff;
  store_be16(header + icmp::kChecksum, checksum);

  if (parsed.is_ipv6) {
    exchange(ip + ipv6::kSource, ip + ipv6::kDestination, sizeof(Ipv6Address));
    ip[ipv6::kHopLimit] = kReplyTtl;
  } else {
    exchange(ip + ipv4::kSource, ip + ipv4::kDestination, sizeof(Ipv4Address));
    const uint16_t ttl_before = load_be16(ip + ipv4::kTtl);
    ip[ipv4::kTtl] = kReplyTtl;
    ChecksumChange ttl_change;
    ttl_change.change16(ttl_before, load_be16(ip + ipv4::kTtl));
    store_be16(ip + ipv4::kChecksum, ttl_change.apply(load_be16(ip + ipv4::kChecksum)));
  }
  parsed.ttl = kReplyTtl;
  const MacPair macs = read_macs(packet);
  rewrite_macs(packet, {.source = macs.destination, .destination = macs.source});
}

}  // namespace roost::net
