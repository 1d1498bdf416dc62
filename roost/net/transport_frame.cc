#include "roost/net/transport_frame.h"

#include <algorithm>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"

namespace roost::net {
namespace {

constexpr uint8_t kFirstTtl = 64;
constexpr uint16_t kWindow = 65'535;

void write_ip(std::span<uint8_t> ip, const TransportFrame<Ipv4Address>& header, size_t l4_bytes) {
  std::ranges::fill(ip.first(ipv4::kHeaderBytesMin), uint8_t{0});
  ip[ipv4::kVersionAndLength] = 0x45;
  store_be16(&ip[ipv4::kTotalLength], static_cast<uint16_t>(ipv4::kHeaderBytesMin + l4_bytes));
  ip[ipv4::kTtl] = kFirstTtl;
  ip[ipv4::kProtocol] = static_cast<uint8_t>(header.protocol);
  std::ranges::copy(header.source.address.bytes, &ip[ipv4::kSource]);
  std::ranges::copy(header.destination.address.bytes, &ip[ipv4::kDestination]);
  store_be16(&ip[ipv4::kChecksum], checksum_of(sum_words(ip.first(ipv4::kHeaderBytesMin))));
}

void write_ip(std::span<uint8_t> ip, const TransportFrame<Ipv6Address>& header, size_t l4_bytes) {
  std::ranges::fill(ip.first(ipv6::kHeaderBytes), uint8_t{0});
  ip[0] = 0x60;
  store_be16(&ip[ipv6::kPayloadLength], static_cast<uint16_t>(l4_bytes));
  ip[ipv6::kNextHeader] = static_cast<uint8_t>(header.protocol);
  ip[ipv6::kHopLimit] = kFirstTtl;
  std::ranges::copy(header.source.address.bytes, &ip[ipv6::kSource]);
  std::ranges::copy(header.destination.address.bytes, &ip[ipv6::kDestination]);
}

}  // namespace

template <class Address>
void write_transport_frame(std::span<uint8_t> frame, const TransportFrame<Address>& header,
                           size_t payload_bytes) {
  using Frame = TransportFrame<Address>;
  const size_t l4_bytes = header.l4_header_bytes() + payload_bytes;
  ROOST_DEBUG_ASSERT(frame.size() >= header.header_bytes() + payload_bytes);
  ROOST_DEBUG_ASSERT(Frame::kIpBytes + l4_bytes <= UINT16_MAX);
  const std::span<uint8_t> ip =
      write_frame_header(frame, {.macs = header.macs,
                                 .vlan = header.vlan,
                                 .ether_type = Frame::kIsIpv6 ? ethernet::kIpv6 : ethernet::kIpv4});
  write_ip(ip, header, l4_bytes);
  const std::span<uint8_t> l4 = ip.subspan(Frame::kIpBytes, l4_bytes);
  std::ranges::fill(l4.first(header.l4_header_bytes()), uint8_t{0});
  store_be16(&l4[0], header.source.port);
  store_be16(&l4[2], header.destination.port);
  const bool is_tcp = header.protocol == IpProtocol::kTcp;
  if (is_tcp) {
    store_be32(&l4[tcp::kSequence], header.sequence);
    store_be32(&l4[tcp::kAcknowledgement], header.acknowledgement);
    l4[tcp::kDataOffset] = 0x50;
    l4[tcp::kFlags] = header.tcp_flags;
    store_be16(&l4[tcp::kWindow], kWindow);
  } else {
    store_be16(&l4[udp::kLength], static_cast<uint16_t>(l4_bytes));
  }
  const uint64_t sum =
      pseudo_header_sum(header.source.address.bytes, header.destination.address.bytes,
                        header.protocol, static_cast<uint32_t>(l4_bytes)) +
      sum_words(l4);
  if (is_tcp) {
    store_be16(&l4[tcp::kChecksum], checksum_of(sum));
  } else {
    store_be16(&l4[udp::kChecksum], udp_checksum_of(sum));
  }
}

template void write_transport_frame(std::span<uint8_t>, const TransportFrame<Ipv4Address>&, size_t);
template void write_transport_frame(std::span<uint8_t>, const TransportFrame<Ipv6Address>&, size_t);

}  // namespace roost::net
