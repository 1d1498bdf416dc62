// A TCP segment or UDP datagram in a frame that is made here: Ethernet, VLAN tags, IPv4 or IPv6
// without options, TCP without options or UDP, with their checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/frame_header.h"
#include "roost/net/headers.h"
#include "roost/net/tcp_segment.h"

namespace roost::net {

template <class AddressType>
struct TransportFrame {
  using Address = AddressType;
  static constexpr bool kIsIpv6 = std::is_same_v<Address, Ipv6Address>;

  MacPair macs{};
  VlanTags vlan{};
  Endpoint<Address> source{};
  Endpoint<Address> destination{};
  IpProtocol protocol = IpProtocol::kTcp;
  // Of TCP; its length is that of the payload.
  uint8_t tcp_flags = tcp::kAck;
  uint32_t sequence = 0;
  uint32_t acknowledgement = 0;

  // What stands before the payload.
  [[nodiscard]] size_t header_bytes() const {
    return ethernet::kHeaderBytes + vlan.count * vlan::kTagBytes + kIpBytes + l4_header_bytes();
  }
  [[nodiscard]] size_t l4_header_bytes() const {
    return protocol == IpProtocol::kTcp ? tcp::kHeaderBytesMin : udp::kHeaderBytes;
  }

  static constexpr size_t kIpBytes = kIsIpv6 ? ipv6::kHeaderBytes : ipv4::kHeaderBytesMin;
};

// Writes the headers to the start of `frame`, whose payload of `payload_bytes` bytes is there
// already; what follows it is padding. Time grows with the payload, for its checksum. The IP packet
// must be no longer than 65,535 bytes.
template <class Address>
void write_transport_frame(std::span<uint8_t> frame, const TransportFrame<Address>& header,
                           size_t payload_bytes);

extern template void write_transport_frame(std::span<uint8_t>, const TransportFrame<Ipv4Address>&,
                                           size_t);
extern template void write_transport_frame(std::span<uint8_t>, const TransportFrame<Ipv6Address>&,
                                           size_t);

}  // namespace roost::net
