#include "roost/net/answer_frame.h"

#include <algorithm>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/frame_header.h"
#include "roost/net/rewrite.h"

namespace roost::net {
namespace {

constexpr uint8_t kHopsOfAnswers = 64;

bool is_one_station(const uint8_t* address, bool is_ipv6) {
  if (!is_ipv6) return address[0] != 0 && address[0] != 127 && address[0] < 224;
  const bool is_unspecified_or_loopback =
      std::all_of(address, address + 15, [](uint8_t byte) { return byte == 0; }) &&
      address[15] <= 1;
  return address[0] != 0xff && !is_unspecified_or_loopback;
}

void write_ipv4_header(uint8_t* ip, const uint8_t* received, const AnswerHeader& header) {
  std::memset(ip, 0, ipv4::kHeaderBytesMin);
  ip[ipv4::kVersionAndLength] = 0x45;
  ip[ipv4::kTypeOfService] = header.type_of_service;
  store_be16(ip + ipv4::kTotalLength,
             static_cast<uint16_t>(ipv4::kHeaderBytesMin + header.payload_bytes));
  // Never fragmented, so that its identification need not be unique (RFC 6864).
  store_be16(ip + ipv4::kFragment, ipv4::kDontFragment);
  ip[ipv4::kTtl] = kHopsOfAnswers;
  ip[ipv4::kProtocol] = static_cast<uint8_t>(header.protocol);
  const Ipv4Address from = header.source.ipv4();
  std::memcpy(ip + ipv4::kSource, &from, sizeof from);
  std::memcpy(ip + ipv4::kDestination, received + ipv4::kSource, sizeof(Ipv4Address));
  store_be16(ip + ipv4::kChecksum, checksum_of(sum_words({ip, ipv4::kHeaderBytesMin})));
}

void write_ipv6_header(uint8_t* ip, const uint8_t* received, const AnswerHeader& header) {
  std::memset(ip, 0, ipv6::kHeaderBytes);
  ip[0] = 0x60;
  store_be16(ip + ipv6::kPayloadLength, static_cast<uint16_t>(header.payload_bytes));
  ip[ipv6::kNextHeader] = static_cast<uint8_t>(header.protocol);
  ip[ipv6::kHopLimit] = kHopsOfAnswers;
  const Ipv6Address from = header.source.ipv6();
  std::memcpy(ip + ipv6::kSource, &from, sizeof from);
  std::memcpy(ip + ipv6::kDestination, received + ipv6::kSource, sizeof(Ipv6Address));
}

}  // namespace

bool may_be_answered(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  const uint8_t* source = ip + (parsed.is_ipv6 ? ipv6::kSource : ipv4::kSource);
  const uint8_t* destination = ip + (parsed.is_ipv6 ? ipv6::kDestination : ipv4::kDestination);
  return !read_macs(packet).destination.is_multicast() && is_one_station(source, parsed.is_ipv6) &&
         is_one_station(destination, parsed.is_ipv6) && !parsed.fragment.is_later();
}

AnswerFrame write_answer_header(const Packet& packet, const ParsedPacket& parsed,
                                const AnswerHeader& header, std::span<uint8_t> frame) {
  ROOST_ASSERT(header.source.is_ipv6() == parsed.is_ipv6);
  const FrameHeader link = {
      .macs = {.source = header.source_mac, .destination = read_macs(packet).source},
      .vlan = header.vlan,
      .ether_type = parsed.is_ipv6 ? ethernet::kIpv6 : ethernet::kIpv4};
  const size_t ip_header_bytes = parsed.is_ipv6 ? ipv6::kHeaderBytes : ipv4::kHeaderBytesMin;
  const size_t frame_bytes = link.byte_count() + ip_header_bytes + header.payload_bytes;
  ROOST_ASSERT(frame.size() >= frame_bytes);
  uint8_t* ip = write_frame_header(frame, link).data();
  const uint8_t* received = packet.data + parsed.ip_offset;
  if (parsed.is_ipv6) {
    write_ipv6_header(ip, received, header);
  } else {
    write_ipv4_header(ip, received, header);
  }
  const size_t address_bytes = parsed.is_ipv6 ? sizeof(Ipv6Address) : sizeof(Ipv4Address);
  const uint8_t* addresses = ip + (parsed.is_ipv6 ? ipv6::kSource : ipv4::kSource);
  return {.payload = {ip + ip_header_bytes, header.payload_bytes},
          .frame_bytes = frame_bytes,
          .pseudo_header_sum = pseudo_header_sum(
              {addresses, address_bytes}, {addresses + address_bytes, address_bytes},
              header.protocol, static_cast<uint32_t>(header.payload_bytes))};
}

}  // namespace roost::net
