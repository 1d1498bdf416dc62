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

void exchange(uint8_t* a, uint8_t* b, size_t bytes) { std::swap_ranges(a, a + bytes, b); }

}  // namespace

EchoKind echo_kind_of(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.fragment.is_later() || parsed.l4_bytes < icmp::kHeaderBytes ||
      parsed.l4_offset + icmp::kHeaderBytes > packet.contiguous_bytes) {
    return EchoKind::kNone;
  }
  return echo_kind(parsed.is_ipv6, parsed.protocol, packet.data + parsed.l4_offset);
}

bool is_echo_request(const Packet& packet, const ParsedPacket& parsed) {
  return !parsed.fragment.is_one() && echo_kind_of(packet, parsed) == EchoKind::kRequest;
}

bool read_echo_ports(const Packet& packet, ParsedPacket& parsed) {
  const EchoKind kind = echo_kind_of(packet, parsed);
  if (kind == EchoKind::kNone) return false;
  const L4Ports ports = echo_ports(kind, packet.data + parsed.l4_offset);
  parsed.source_port = ports.source;
  parsed.destination_port = ports.destination;
  return true;
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
