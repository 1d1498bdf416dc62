// Making ICMP errors: see icmp_answer.h.
#include "roost/net/icmp_answer.h"

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
constexpr uint8_t kInternetworkControl = 0xc0;  // precedence: RFC 1812 section 4.3.2.5

bool is_one_station(const uint8_t* address, bool is_ipv6) {
  if (!is_ipv6) return address[0] != 0 && address[0] != 127 && address[0] < 224;
  const bool is_unspecified_or_loopback =
      std::all_of(address, address + 15, [](uint8_t byte) { return byte == 0; }) &&
      address[15] <= 1;
  return address[0] != 0xff && !is_unspecified_or_loopback;
}

// Whether the packet is an ICMP error. One whose type cannot be read counts as one.
bool is_icmp_error(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.protocol != kProtocolIcmp4 && parsed.protocol != kProtocolIcmp6) return false;
  if (parsed.l4_bytes == 0 || parsed.l4_offset >= packet.contiguous_bytes) return true;
  const uint8_t type = packet.data[parsed.l4_offset + icmp::kType];
  if (parsed.is_ipv6) return type < icmp::kErrorTypes6;
  return type == icmp::kUnreachable4 || type == icmp::kSourceQuench4 || type == icmp::kRedirect4 ||
         type == icmp::kTimeExceeded4 || type == icmp::kParameterProblem4;
}

bool may_be_answered(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  const uint8_t* source = ip + (parsed.is_ipv6 ? ipv6::kSource : ipv4::kSource);
  const uint8_t* destination = ip + (parsed.is_ipv6 ? ipv6::kDestination : ipv4::kDestination);
  return !read_macs(packet).destination.is_multicast() && is_one_station(source, parsed.is_ipv6) &&
         is_one_station(destination, parsed.is_ipv6) && !parsed.fragment.is_later() &&
         !is_icmp_error(packet, parsed);
}

void write_ipv4_header(uint8_t* ip, const uint8_t* received, const IpAddress& source,
                       size_t ip_bytes) {
  std::memset(ip, 0, ipv4::kHeaderBytesMin);
  ip[ipv4::kVersionAndLength] = 0x45;
  ip[ipv4::kTypeOfService] = kInternetworkControl;
  store_be16(ip + ipv4::kTotalLength, static_cast<uint16_t>(ip_bytes));
  // Never fragmented, so that its identification need not be unique (RFC 6864).
  store_be16(ip + ipv4::kFragment, ipv4::kDontFragment);
  ip[ipv4::kTtl] = kHopsOfAnswers;
  ip[ipv4::kProtocol] = static_cast<uint8_t>(kProtocolIcmp4);
  const Ipv4Address from = source.ipv4();
  std::memcpy(ip + ipv4::kSource, &from, sizeof from);
  std::memcpy(ip + ipv4::kDestination, received + ipv4::kSource, sizeof(Ipv4Address));
  store_be16(ip + ipv4::kChecksum, checksum_of(sum_words({ip, ipv4::kHeaderBytesMin})));
}

void write_ipv6_header(uint8_t* ip, const uint8_t* received, const IpAddress& source,
                       size_t payload_bytes) {
  std::memset(ip, 0, ipv6::kHeaderBytes);
  ip[0] = 0x60;
  store_be16(ip + ipv6::kPayloadLength, static_cast<uint16_t>(payload_bytes));
  ip[ipv6::kNextHeader] = static_cast<uint8_t>(kProtocolIcmp6);
  ip[ipv6::kHopLimit] = kHopsOfAnswers;
  const Ipv6Address from = source.ipv6();
  std::memcpy(ip + ipv6::kSource, &from, sizeof from);
  std::memcpy(ip + ipv6::kDestination, received + ipv6::kSource, sizeof(Ipv6Address));
}

struct TypeAndCode {
  uint8_t type = 0;
  uint8_t code = 0;
};

TypeAndCode type_of(IcmpAnswer::Reason reason, bool is_ipv6) {
  using enum IcmpAnswer::Reason;
  switch (reason) {
    case kTooBig:
      return is_ipv6 ? TypeAndCode{icmp::kTooBig6}
                     : TypeAndCode{icmp::kUnreachable4, icmp::kFragmentationNeeded};
    case kTimeExceeded:
      return {is_ipv6 ? icmp::kTimeExceeded6 : icmp::kTimeExceeded4};
    case kNoRoute:
      return is_ipv6 ? TypeAndCode{icmp::kUnreachable6, icmp::kNoRoute6}
                     : TypeAndCode{icmp::kUnreachable4, icmp::kNetUnreachable4};
    case kHostUnreachable:
      return is_ipv6 ? TypeAndCode{icmp::kUnreachable6, icmp::kAddressUnreachable6}
                     : TypeAndCode{icmp::kUnreachable4, icmp::kHostUnreachable4};
    case kPortUnreachable:
      return is_ipv6 ? TypeAndCode{icmp::kUnreachable6, icmp::kPortUnreachable6}
                     : TypeAndCode{icmp::kUnreachable4, icmp::kPortUnreachable4};
  }
  return {};
}

// All but the checksum.
void write_icmp_header(uint8_t* message, bool is_ipv6, const IcmpAnswer& answer) {
  std::memset(message, 0, icmp::kHeaderBytes);
  const auto [type, code] = type_of(answer.reason, is_ipv6);
  message[icmp::kType] = type;
  message[icmp::kCode] = code;
  if (answer.reason != IcmpAnswer::Reason::kTooBig) return;
  store_be16(message + (is_ipv6 ? icmp::kMtu6 + 2 : icmp::kMtu4), answer.mtu);
}

}  // namespace

size_t make_icmp_answer(const Packet& packet, const ParsedPacket& parsed, const IcmpAnswer& answer,
                        std::span<uint8_t> frame) {
  ROOST_ASSERT(frame.size() >= kIcmpAnswerBytesMax);
  ROOST_ASSERT(answer.source.is_ipv6() == parsed.is_ipv6);
  if (!may_be_answered(packet, parsed)) return 0;
  const size_t header_bytes = parsed.is_ipv6 ? ipv6::kHeaderBytes : ipv4::kHeaderBytesMin;
  const size_t bytes_max = parsed.is_ipv6 ? icmp::kErrorBytesMax6 : icmp::kErrorBytesMax4;
  const size_t embedded_bytes =
      std::min({bytes_max - header_bytes - icmp::kHeaderBytes, size_t{parsed.ip_bytes},
                size_t{packet.contiguous_bytes} - parsed.ip_offset});
  const size_t message_bytes = icmp::kHeaderBytes + embedded_bytes;

  const uint8_t* received = packet.data + parsed.ip_offset;
  const FrameHeader header = {
      .macs = {.source = answer.source_mac, .destination = read_macs(packet).source},
      .vlan = answer.vlan,
      .ether_type = parsed.is_ipv6 ? ethernet::kIpv6 : ethernet::kIpv4};
  uint8_t* ip = write_frame_header(frame, header).data();
  uint8_t* message = ip + header_bytes;
  write_icmp_header(message, parsed.is_ipv6, answer);
  std::memcpy(message + icmp::kHeaderBytes, received, embedded_bytes);
  uint64_t sum = sum_words({message, message_bytes});
  if (parsed.is_ipv6) {
    write_ipv6_header(ip, received, answer.source, message_bytes);
    sum += pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                             {ip + ipv6::kDestination, sizeof(Ipv6Address)}, kProtocolIcmp6,
                             static_cast<uint32_t>(message_bytes));
  } else {
    write_ipv4_header(ip, received, answer.source, header_bytes + message_bytes);
  }
  store_be16(message + icmp::kChecksum, checksum_of(sum));
  return header.byte_count() + header_bytes + message_bytes;
}

}  // namespace roost::net
