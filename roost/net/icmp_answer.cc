// Making ICMP errors: see icmp_answer.h.
#include "roost/net/icmp_answer.h"

#include <algorithm>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/answer_frame.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"

namespace roost::net {
namespace {

constexpr uint8_t kInternetworkControl = 0xc0;  // precedence: RFC 1812 section 4.3.2.5

// Whether the packet is an ICMP error. One whose type cannot be read counts as one.
bool is_icmp_error(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.protocol != kProtocolIcmp4 && parsed.protocol != kProtocolIcmp6) return false;
  if (parsed.l4_bytes == 0 || parsed.l4_offset >= packet.contiguous_bytes) return true;
  const uint8_t type = packet.data[parsed.l4_offset + icmp::kType];
  if (parsed.is_ipv6) return type < icmp::kErrorTypes6;
  return type == icmp::kUnreachable4 || type == icmp::kSourceQuench4 || type == icmp::kRedirect4 ||
         type == icmp::kTimeExceeded4 || type == icmp::kParameterProblem4;
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
    case kProhibited:
      return is_ipv6 ? TypeAndCode{icmp::kUnreachable6, icmp::kProhibited6}
                     : TypeAndCode{icmp::kUnreachable4, icmp::kProhibited4};
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
  if (!may_be_answered(packet, parsed) || is_icmp_error(packet, parsed)) return 0;
  const size_t header_bytes = parsed.is_ipv6 ? ipv6::kHeaderBytes : ipv4::kHeaderBytesMin;
  const size_t bytes_max = parsed.is_ipv6 ? icmp::kErrorBytesMax6 : icmp::kErrorBytesMax4;
  const size_t embedded_bytes =
      std::min({bytes_max - header_bytes - icmp::kHeaderBytes, size_t{parsed.ip_bytes},
                size_t{packet.contiguous_bytes} - parsed.ip_offset});
  const AnswerFrame written =
      write_answer_header(packet, parsed,
                          {.source_mac = answer.source_mac,
                           .vlan = answer.vlan,
                           .source = answer.source,
                           .protocol = parsed.is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4,
                           .type_of_service = kInternetworkControl,
                           .payload_bytes = icmp::kHeaderBytes + embedded_bytes},
                          frame);
  uint8_t* message = written.payload.data();
  write_icmp_header(message, parsed.is_ipv6, answer);
  std::memcpy(message + icmp::kHeaderBytes, packet.data + parsed.ip_offset, embedded_bytes);
  const uint64_t pseudo_header = parsed.is_ipv6 ? written.pseudo_header_sum : 0;
  store_be16(message + icmp::kChecksum, checksum_of(pseudo_header + sum_words(written.payload)));
  return written.frame_bytes;
}

}  // namespace roost::net
