// ICMP errors from one IP version to the other: see icmp_translation.h.
#include "roost/net/icmp_translation.h"

#include <algorithm>
#include <array>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/ip_translation.h"
#include "roost/net/l4_ports.h"

namespace roost::net {
namespace {

constexpr uint32_t kIpv6MtuMin = 1'280;
// What an IPv6 header is longer than an IPv4 one.
constexpr uint32_t kLonger = ipv6::kHeaderBytes - ipv4::kHeaderBytesMin;
constexpr uint8_t kNoCounterpart = 0xff;

// The first eight bytes of the message but for the checksum.
struct Said {
  uint8_t type = 0;
  uint8_t code = 0;
  uint32_t rest = 0;
};

// Which field of the other version's header a pointer means, by field of this one.
constexpr std::array<uint8_t, ipv4::kHeaderBytesMin> kPointer6 = {0,
                                                                  1,
                                                                  4,
                                                                  4,
                                                                  kNoCounterpart,
                                                                  kNoCounterpart,
                                                                  kNoCounterpart,
                                                                  kNoCounterpart,
                                                                  7,
                                                                  6,
                                                                  kNoCounterpart,
                                                                  kNoCounterpart,
                                                                  8,
                                                                  8,
                                                                  8,
                                                                  8,
                                                                  24,
                                                                  24,
                                                                  24,
                                                                  24};

std::optional<uint8_t> pointer4(uint32_t pointer6) {
  if (pointer6 >= ipv6::kHeaderBytes) return {};
  if (pointer6 >= ipv6::kDestination) return uint8_t{ipv4::kDestination};
  if (pointer6 >= ipv6::kSource) return uint8_t{ipv4::kSource};
  constexpr std::array<uint8_t, ipv6::kSource> kPointer4 = {
      0, 1, kNoCounterpart, kNoCounterpart, 2, 2, 9, 8};
  const uint8_t pointer = kPointer4[pointer6];
  return pointer == kNoCounterpart ? std::nullopt : std::optional(pointer);
}

// A router before RFC 1191 names no MTU: the largest one that is common, and less than what was too
// big (RFC 1191 section 7).
uint32_t likely_mtu(uint32_t packet_bytes) {
  for (const uint32_t plateau : {32'000U, 17'914U, 8'166U, 4'352U, 2'002U, 1'492U, 1'006U, 508U}) {
    if (plateau < packet_bytes) return plateau;
  }
  return 296;
}

// By code; those of host and network unknown, isolated, or for a type of service mean no route.
std::optional<Said> unreachable_as_ipv6(const uint8_t* message) {
  switch (message[icmp::kCode]) {
    case icmp::kProtocolUnreachable4:
      return Said{icmp::kParameterProblem6, icmp::kUnknownNextHeader6, ipv6::kNextHeader};
    case icmp::kPortUnreachable4:
      return Said{icmp::kUnreachable6, icmp::kPortUnreachable6};
    case icmp::kFragmentationNeeded: {
      const uint16_t named = load_be16(message + icmp::kMtu4);
      const uint32_t mtu =
          named != 0 ? named
                     : likely_mtu(load_be16(message + icmp::kHeaderBytes + ipv4::kTotalLength));
      return Said{icmp::kTooBig6, 0, std::max(mtu + kLonger, kIpv6MtuMin)};
    }
    case icmp::kNetProhibited4:
    case icmp::kHostProhibited4:
    case icmp::kProhibited4:
    case icmp::kPrecedenceCutoff4:
      return Said{icmp::kUnreachable6, icmp::kProhibited6};
    case icmp::kPrecedenceViolation4:
      return {};
    default:
      if (message[icmp::kCode] > icmp::kHostForService4) return {};
      return Said{icmp::kUnreachable6, icmp::kNoRoute6};
  }
}

std::optional<Said> as_ipv6_error(const uint8_t* message) {
  const uint8_t code = message[icmp::kCode];
  switch (message[icmp::kType]) {
    case icmp::kUnreachable4:
      return unreachable_as_ipv6(message);
    case icmp::kTimeExceeded4:
      return Said{icmp::kTimeExceeded6, code};
    default: {
      const uint8_t pointer = message[icmp::kPointer4];
      // 1 is an option that is missing, and IPv6 has none of those.
      if ((code != 0 && code != icmp::kBadLength4) || pointer >= kPointer6.size()) return {};
      if (kPointer6[pointer] == kNoCounterpart) return {};
      return Said{icmp::kParameterProblem6, 0, kPointer6[pointer]};
    }
  }
}

std::optional<Said> unreachable_as_ipv4(uint8_t code) {
  switch (code) {
    case icmp::kNoRoute6:
    case icmp::kBeyondScope6:
    case icmp::kAddressUnreachable6:
      return Said{icmp::kUnreachable4, icmp::kHostUnreachable4};
    case icmp::kProhibited6:
      return Said{icmp::kUnreachable4, icmp::kHostProhibited4};
    case icmp::kPortUnreachable6:
      return Said{icmp::kUnreachable4, icmp::kPortUnreachable4};
    default:
      return {};
  }
}

std::optional<Said> as_ipv4_error(const uint8_t* message) {
  const uint8_t code = message[icmp::kCode];
  const uint32_t rest = load_be32(message + icmp::kMtu6);
  switch (message[icmp::kType]) {
    case icmp::kUnreachable6:
      return unreachable_as_ipv4(code);
    case icmp::kTooBig6: {
      // No path of IPv6 carries less.
      const uint32_t mtu = std::clamp(rest, kIpv6MtuMin, kIpBytesMax + kLonger) - kLonger;
      return Said{icmp::kUnreachable4, icmp::kFragmentationNeeded, mtu};
    }
    case icmp::kTimeExceeded6:
      return Said{icmp::kTimeExceeded4, code};
    default: {
      if (code == icmp::kUnknownNextHeader6) {
        return Said{icmp::kUnreachable4, icmp::kProtocolUnreachable4};
      }
      const std::optional<uint8_t> pointer = pointer4(rest);
      if (code != 0 || !pointer) return {};
      return Said{icmp::kParameterProblem4, 0, uint32_t{*pointer} << 24};
    }
  }
}

// How far what is embedded reaches, from the embedded packet's transport header on. What says that
// there are extensions behind it (RFC 4884 section 4) was unused before, and may be anything.
uint32_t embedded_l4_bytes(const Packet& packet, const ParsedPacket& parsed,
                           const IcmpError& error) {
  const uint8_t* message = packet.data + error.icmp_offset;
  const uint32_t header_bytes = error.embedded_l4_offset - uint32_t{error.embedded_ip_offset};
  const uint32_t all = parsed.l4_bytes - uint32_t{icmp::kHeaderBytes} - header_bytes;
  const bool may_say = !error.is_ipv6 || message[icmp::kType] == icmp::kUnreachable6 ||
                       message[icmp::kType] == icmp::kTimeExceeded6;
  if (!may_say) return all;
  const uint32_t said =
      error.is_ipv6 ? 8U * message[icmp::kEmbeddedLength6] : 4U * message[icmp::kEmbeddedLength4];
  if (said < header_bytes + icmp::kEmbeddedL4BytesMin) return all;
  return std::min(all, said - header_bytes);
}

// The headers of an error before and after.
struct Layout {
  uint32_t outer_before = 0;
  uint32_t inner_before = 0;
  uint32_t outer = 0;
  uint32_t inner = 0;

  [[nodiscard]] ptrdiff_t growth() const {
    return ptrdiff_t{outer} + inner - outer_before - inner_before;
  }
};

bool is_embedded_fragment(const uint8_t* embedded, bool is_ipv6) {
  if (is_ipv6) return embedded[ipv6::kNextHeader] == ipv6::kFragmentHeader;
  return (load_be16(embedded + ipv4::kFragment) & ipv4::kMoreFragments) != 0;
}

Layout layout_of(const Packet& packet, const IcmpError& error) {
  const uint8_t* embedded = packet.data + error.embedded_ip_offset;
  const auto header_bytes =
      static_cast<uint32_t>(error.is_ipv6 ? ipv4::kHeaderBytesMin : ipv6::kHeaderBytes);
  Layout layout{.outer_before = error.icmp_offset - uint32_t{error.ip_offset},
                .inner_before = error.embedded_l4_offset - uint32_t{error.embedded_ip_offset},
                .outer = header_bytes,
                .inner = header_bytes};
  if (!error.is_ipv6 && is_embedded_fragment(embedded, false)) {
    layout.inner += ipv6::kExtensionBytesMin;
  }
  return layout;
}

// The embedded packet's header with what it says of a packet that is longer than what is here.
void write_inner_ipv6(const std::array<uint8_t, ipv4::kHeaderBytesMin>& before,
                      const Layout& layout, uint8_t* to) {
  Ipv6HeaderFields fields = as_ipv6(before.data());
  const uint32_t total = load_be16(&before[ipv4::kTotalLength]);
  const uint32_t carried = total - std::min(total, layout.inner_before);
  fields.payload_bytes = carried + layout.inner - uint32_t{ipv6::kHeaderBytes};
  const bool is_fragment = layout.inner > ipv6::kHeaderBytes;
  const uint8_t protocol = fields.next_header;
  if (is_fragment) fields.next_header = ipv6::kFragmentHeader;
  write_ipv6_header(to, fields);
  if (!is_fragment) return;
  write_fragment_header(to + ipv6::kHeaderBytes,
                        {.next_header = protocol,
                         .is_last = false,
                         .identification = load_be16(&before[ipv4::kIdentification])});
}

// `before`: the header, and the first extension header if it has one.
void write_inner_ipv4(
    const std::array<uint8_t, ipv6::kHeaderBytes + ipv6::kExtensionBytesMin>& before,
    const Layout& layout, IpProtocol protocol, uint8_t* to) {
  Ipv4HeaderFields fields = as_ipv4(before.data());
  const uint32_t total =
      static_cast<uint32_t>(ipv6::kHeaderBytes) + load_be16(&before[ipv6::kPayloadLength]);
  fields.total_bytes = total - std::min(total, layout.inner_before) + layout.inner;
  fields.protocol = static_cast<uint8_t>(protocol);
  if (is_embedded_fragment(before.data(), true)) {
    const uint8_t* fragment = &before[ipv6::kHeaderBytes];
    fields.fragment = ipv4_fragment_field(fragment);
    fields.identification = load_be16(fragment + ipv6::kFragmentIdentification + 2);
  } else if (fields.total_bytes > kMayBeCutBytes) {
    fields.fragment = ipv4::kDontFragment;
  }
  write_ipv4_header(to, fields);
}

void write_message_header(uint8_t* message, const Said& said) {
  message[icmp::kType] = said.type;
  message[icmp::kCode] = said.code;
  store_be16(message + icmp::kChecksum, 0);
  store_be32(message + icmp::kMtu6, said.rest);
}

// Where everything is now, in a message of so many bytes.
void update_offsets(const Layout& layout, uint32_t message_bytes, bool is_ipv6,
                    ParsedPacket& parsed, IcmpError& error) {
  parsed.is_ipv6 = is_ipv6;
  parsed.protocol = is_ipv6 ? kProtocolIcmp6 : kProtocolIcmp4;
  parsed.l4_offset = static_cast<uint16_t>(parsed.ip_offset + layout.outer);
  parsed.l4_bytes = message_bytes;
  parsed.ip_bytes = layout.outer + message_bytes;
  error.is_ipv6 = is_ipv6;
  error.icmp_offset = parsed.l4_offset;
  error.embedded_ip_offset = static_cast<uint16_t>(parsed.l4_offset + icmp::kHeaderBytes);
  error.embedded_l4_offset = static_cast<uint16_t>(error.embedded_ip_offset + layout.inner);
  const size_t checksum_at = error.protocol == IpProtocol::kTcp ? tcp::kChecksum : udp::kChecksum;
  error.has_l4_checksum = icmp::kHeaderBytes + layout.inner + checksum_at + 2 <= message_bytes;
}

}  // namespace

std::optional<ptrdiff_t> error_translation_growth(const Packet& packet, const IcmpError& error) {
  if (!is_tcp_or_udp(error.protocol)) return {};
  const uint8_t* message = packet.data + error.icmp_offset;
  const auto said = error.is_ipv6 ? as_ipv4_error(message) : as_ipv6_error(message);
  if (!said) return {};
  return layout_of(packet, error).growth();
}

void translate_error_to_ipv6(Packet& packet, ParsedPacket& parsed, IcmpError& error) {
  ROOST_ASSERT(!error.is_ipv6);
  const Said said = as_ipv6_error(packet.data + error.icmp_offset).value_or(Said());
  const Layout layout = layout_of(packet, error);
  const uint32_t inner_l4_bytes =
      std::min(embedded_l4_bytes(packet, parsed, error),
               static_cast<uint32_t>(icmp::kErrorBytesMax6 - icmp::kHeaderBytes) - layout.outer -
                   layout.inner);
  const uint32_t message_bytes = uint32_t{icmp::kHeaderBytes} + layout.inner + inner_l4_bytes;
  Ipv6HeaderFields outer = as_ipv6(packet.data + error.ip_offset);
  outer.next_header = static_cast<uint8_t>(kProtocolIcmp6);
  outer.payload_bytes = message_bytes;
  std::array<uint8_t, ipv4::kHeaderBytesMin> inner{};
  std::copy_n(packet.data + error.embedded_ip_offset, inner.size(), inner.begin());

  move_front(packet, error.ip_offset, layout.growth());
  update_offsets(layout, message_bytes, true, parsed, error);
  uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* message = packet.data + parsed.l4_offset;
  store_be16(ip - ethernet::kEtherTypeBytes, ethernet::kIpv6);
  write_ipv6_header(ip, outer);
  write_message_header(message, said);
  write_inner_ipv6(inner, layout, message + icmp::kHeaderBytes);
  const uint64_t sum = pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                                         {ip + ipv6::kDestination, sizeof(Ipv6Address)},
                                         kProtocolIcmp6, message_bytes) +
                       sum_words({message, message_bytes});
  store_be16(message + icmp::kChecksum, checksum_of(sum));
}

void translate_error_to_ipv4(Packet& packet, ParsedPacket& parsed, IcmpError& error,
                             uint16_t identification) {
  ROOST_ASSERT(error.is_ipv6);
  const Said said = as_ipv4_error(packet.data + error.icmp_offset).value_or(Said());
  const Layout layout = layout_of(packet, error);
  const uint32_t message_bytes =
      uint32_t{icmp::kHeaderBytes} + layout.inner + embedded_l4_bytes(packet, parsed, error);
  Ipv4HeaderFields outer = as_ipv4(packet.data + error.ip_offset);
  outer.protocol = static_cast<uint8_t>(kProtocolIcmp4);
  outer.total_bytes = layout.outer + message_bytes;
  outer.fragment = outer.total_bytes <= kMayBeCutBytes ? uint16_t{0} : ipv4::kDontFragment;
  outer.identification = identification;
  std::array<uint8_t, ipv6::kHeaderBytes + ipv6::kExtensionBytesMin> inner{};
  std::copy_n(packet.data + error.embedded_ip_offset,
              std::min<size_t>(inner.size(), layout.inner_before), inner.begin());

  move_front(packet, error.ip_offset, layout.growth());
  update_offsets(layout, message_bytes, false, parsed, error);
  uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* message = packet.data + parsed.l4_offset;
  store_be16(ip - ethernet::kEtherTypeBytes, ethernet::kIpv4);
  write_ipv4_header(ip, outer);
  write_message_header(message, said);
  write_inner_ipv4(inner, layout, error.protocol, message + icmp::kHeaderBytes);
  store_be16(message + icmp::kChecksum, checksum_of(sum_words({message, message_bytes})));
}

}  // namespace roost::net
