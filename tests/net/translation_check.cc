// The rules of translation: see translation_check.h.
#include "tests/net/translation_check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/icmp_error.h"
#include "roost/net/icmp_translation.h"
#include "roost/net/ip_translation.h"
#include "roost/net/l4_checksum.h"
#include "tests/net/test_frame.h"

namespace roost::net {
namespace {

constexpr uint16_t kSomeIdentification = 0x4321;

// Mapped addresses, so that nothing of them is lost in IPv4.
std::vector<uint8_t> with_mapped_addresses(std::vector<uint8_t> frame, const ParsedPacket& parsed) {
  if (!parsed.is_ipv6) return frame;
  for (const size_t field : {ipv6::kSource, ipv6::kDestination}) {
    uint8_t* address = &frame[parsed.ip_offset + field];
    Ipv6Address before;
    std::memcpy(&before, address, sizeof before);
    const Ipv6Address after = ipv4_mapped(ipv4_of(before));
    std::memcpy(address, &after, sizeof after);
  }
  return frame;
}

std::vector<uint8_t> carried_of(const Packet& packet, const ParsedPacket& parsed) {
  const uint32_t end = std::min(parsed.ip_offset + parsed.ip_bytes, packet.contiguous_bytes);
  return {packet.data + parsed.l4_offset, packet.data + std::max<uint32_t>(end, parsed.l4_offset)};
}

void translate(Packet& packet, ParsedPacket& parsed, bool is_to_be_cut) {
  if (parsed.is_ipv6) {
    translate_to_ipv4(packet, parsed, kSomeIdentification);
  } else {
    translate_to_ipv6(packet, parsed, is_to_be_cut);
  }
}

void check_kept(const Packet& packet, const ParsedPacket& parsed, ParseVerdict verdict) {
  ParsedPacket again;
  ROOST_ASSERT(parse(packet, again) == verdict);
  ROOST_ASSERT(again == parsed);
}

bool lacks_checksum(const ParsedPacket& parsed, const std::vector<uint8_t>& carried) {
  return parsed.protocol == IpProtocol::kUdp && !parsed.fragment.is_later() &&
         load_be16(&carried[udp::kChecksum]) == 0;
}

void check_packet(TestFrame& frame, ParsedPacket parsed, ParseVerdict verdict, bool is_to_be_cut) {
  Packet& packet = frame.packet;
  const bool was_ipv6 = parsed.is_ipv6;
  const uint8_t ttl = parsed.ttl;
  std::vector<uint8_t> carried = carried_of(packet, parsed);
  const bool gets_checksum = lacks_checksum(parsed, carried);
  // Of a fragment nothing is known, and a later one has no header to look into.
  std::optional<L4ChecksumVerdict> sum;
  if (!parsed.fragment.is_one() && !gets_checksum) sum = verify_l4_checksum(packet, parsed);
  translate(packet, parsed, is_to_be_cut);
  ROOST_ASSERT(parsed.is_ipv6 != was_ipv6 && parsed.ttl == ttl);
  check_kept(packet, parsed, verdict);
  if (sum) ROOST_ASSERT(verify_l4_checksum(packet, parsed) == *sum);
  if (gets_checksum) {
    ROOST_ASSERT(verify_l4_checksum(packet, parsed) == L4ChecksumVerdict::kRight);
    const uint8_t* made = packet.data + parsed.l4_offset + udp::kChecksum;
    std::copy_n(made, 2, &carried[udp::kChecksum]);
  }
  ROOST_ASSERT(carried_of(packet, parsed) == carried);
  const auto back = translation_growth(packet, parsed);
  ROOST_ASSERT(back.has_value());
  if (*back > static_cast<ptrdiff_t>(packet.headroom)) return;
  translate(packet, parsed, false);
  check_kept(packet, parsed, verdict);
  ROOST_ASSERT(carried_of(packet, parsed) == carried);
}

void check_error(TestFrame& frame, ParsedPacket parsed, IcmpError error) {
  Packet& packet = frame.packet;
  const auto ports = std::pair(error.source_port, error.destination_port);
  const bool was_ipv6 = parsed.is_ipv6;
  if (was_ipv6) {
    translate_error_to_ipv4(packet, parsed, error, kSomeIdentification);
  } else {
    translate_error_to_ipv6(packet, parsed, error);
  }
  ROOST_ASSERT(parsed.is_ipv6 != was_ipv6);
  ROOST_ASSERT(!parsed.is_ipv6 || parsed.ip_bytes <= icmp::kErrorBytesMax6);
  check_kept(packet, parsed, ParseVerdict::kUnsupportedProtocol);
  IcmpError again;
  ROOST_ASSERT(parse_icmp_error(packet, parsed, again) == IcmpVerdict::kError);
  ROOST_ASSERT(again == error);
  ROOST_ASSERT(std::pair(error.source_port, error.destination_port) == ports);
}

}  // namespace

bool check_translation(std::span<const uint8_t> bytes, uint8_t cut_bytes, bool is_to_be_cut) {
  ParsedPacket parsed;
  const uint32_t total = static_cast<uint32_t>(bytes.size());
  const uint32_t contiguous = total - std::min<uint32_t>(total, cut_bytes);
  const TestFrame as_given(bytes, {.headroom = 0, .contiguous_bytes = contiguous});
  const ParseVerdict verdict = parse(as_given.packet, parsed);
  IcmpError error;
  const bool is_error = verdict == ParseVerdict::kUnsupportedProtocol &&
                        parse_icmp_error(as_given.packet, parsed, error) == IcmpVerdict::kError;
  const bool is_packet = verdict == ParseVerdict::kOk || verdict == ParseVerdict::kFragment;
  if (!is_error && !is_packet) return false;
  const auto growth = is_error ? error_translation_growth(as_given.packet, error)
                               : translation_growth(as_given.packet, parsed);
  if (!growth) return false;
  const bool gets_header =
      is_packet && is_to_be_cut && !parsed.is_ipv6 && !parsed.fragment.is_one();
  const ptrdiff_t headroom = *growth + (gets_header ? ptrdiff_t{kFragmentHeaderGrowth} : 0);
  std::vector<uint8_t> given(bytes.begin(), bytes.end());
  if (is_packet) given = with_mapped_addresses(std::move(given), parsed);
  TestFrame frame(given, {.headroom = static_cast<uint32_t>(std::max<ptrdiff_t>(headroom, 0)),
                          .contiguous_bytes = contiguous});
  if (is_error) {
    check_error(frame, parsed, error);
  } else {
    check_packet(frame, parsed, verdict, is_to_be_cut);
  }
  return true;
}

}  // namespace roost::net
