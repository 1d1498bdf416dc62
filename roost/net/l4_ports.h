// Where the ports of a flow stand in the header behind IP, and its checksum. TCP and UDP have a
// port for either end. ICMP echo has its identifier: it is the port of the end that asks, and the
// other end's is 0, so that a reply has the key of its request, reversed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::net {

[[nodiscard]] constexpr bool is_tcp_or_udp(IpProtocol protocol) {
  return protocol == IpProtocol::kTcp || protocol == IpProtocol::kUdp;
}

enum class EchoKind : uint8_t { kNone, kRequest, kReply };

// Of a header of which at least icmp::kHeaderBytes are there.
[[nodiscard]] constexpr EchoKind echo_kind(bool is_ipv6, IpProtocol protocol,
                                           const uint8_t* header) {
  if (protocol != (is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4) || header[icmp::kCode] != 0) {
    return EchoKind::kNone;
  }
  const uint8_t type = header[icmp::kType];
  if (type == (is_ipv6 ? icmpv6::kEchoRequest : icmp::kEchoRequest4)) return EchoKind::kRequest;
  const uint8_t reply = is_ipv6 ? icmpv6::kEchoReply : icmp::kEchoReply4;
  return type == reply ? EchoKind::kReply : EchoKind::kNone;
}

struct L4Ports {
  uint16_t source = 0;
  uint16_t destination = 0;
};
[[nodiscard]] constexpr L4Ports echo_ports(EchoKind kind, const uint8_t* header) {
  const uint16_t identifier = load_be16(header + icmp::kEchoIdentifier);
  return kind == EchoKind::kRequest ? L4Ports{.source = identifier}
                                    : L4Ports{.destination = identifier};
}

// The field of the source's port or the destination's; nullptr if that end has none. `l4` is a
// header of TCP, UDP or ICMP echo.
[[nodiscard]] constexpr uint8_t* port_field(uint8_t* l4, IpProtocol protocol, bool is_source) {
  static_assert(
      tcp::kSourcePort == udp::kSourcePort && tcp::kDestinationPort == udp::kDestinationPort,
      "ports are found without asking which of the two it is");
  if (is_tcp_or_udp(protocol)) return l4 + (is_source ? tcp::kSourcePort : tcp::kDestinationPort);
  const uint8_t type = l4[icmp::kType];
  const bool is_request = type == icmp::kEchoRequest4 || type == icmpv6::kEchoRequest;
  return is_request == is_source ? l4 + icmp::kEchoIdentifier : nullptr;
}

[[nodiscard]] constexpr size_t l4_checksum_offset(IpProtocol protocol) {
  if (protocol == IpProtocol::kTcp) return tcp::kChecksum;
  return protocol == IpProtocol::kUdp ? udp::kChecksum : icmp::kChecksum;
}

// Whether the checksum covers the addresses too.
[[nodiscard]] constexpr bool covers_addresses(IpProtocol protocol) {
  return protocol != kProtocolIcmp4;
}

}  // namespace roost::net
