// The cursor parser: see parse.h for what it accepts.
#include "roost/net/parse.h"

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/ipv6_extension.h"

namespace roost::net {
namespace {

// A place in a frame. Everything before `offset` has been read.
struct Cursor {
  const Packet& packet;
  uint32_t offset = 0;

  [[nodiscard]] const uint8_t* at() const { return packet.data + offset; }

  // kOk when the next `bytes` bytes can be read.
  [[nodiscard]] ParseVerdict need(size_t bytes) const {
    if (offset + bytes > packet.total_bytes) return ParseVerdict::kTruncated;
    if (offset + bytes > packet.contiguous_bytes) return ParseVerdict::kSplitHeaders;
    return ParseVerdict::kOk;
  }
};

bool is_vlan_protocol(uint16_t ether_type) {
  return ether_type == vlan::kCustomer || ether_type == vlan::kService;
}

// Leaves the cursor behind the EtherType, which it stores.
ParseVerdict parse_ethernet(Cursor& cursor, ParsedPacket& parsed, uint16_t& ether_type) {
  if (const ParseVerdict v = cursor.need(ethernet::kHeaderBytes); v != ParseVerdict::kOk) return v;
  cursor.offset += ethernet::kAddressesBytes;
  ether_type = load_be16(cursor.at());
  while (is_vlan_protocol(ether_type) && parsed.vlan.count < vlan::kTagsMax) {
    const size_t tag_and_next_type = vlan::kTagBytes + ethernet::kEtherTypeBytes;
    if (const ParseVerdict v = cursor.need(tag_and_next_type); v != ParseVerdict::kOk) return v;
    parsed.vlan.tags[parsed.vlan.count] = {ether_type, load_be16(cursor.at() + 2)};
    ++parsed.vlan.count;
    cursor.offset += vlan::kTagBytes;
    ether_type = load_be16(cursor.at());
  }
  cursor.offset += ethernet::kEtherTypeBytes;
  return ParseVerdict::kOk;
}

ParseVerdict check_ipv4_options(std::span<const uint8_t> options) {
  size_t at = 0;
  while (at < options.size() && options[at] != ipv4::kOptionEnd) {
    if (options[at] == ipv4::kOptionNoOperation) {
      ++at;
      continue;
    }
    if (at + 1 >= options.size()) return ParseVerdict::kBadHeader;
    const size_t option_bytes = options[at + 1];
    if (option_bytes < 2 || at + option_bytes > options.size()) return ParseVerdict::kBadHeader;
    if (options[at] == ipv4::kOptionLooseSourceRoute ||
        options[at] == ipv4::kOptionStrictSourceRoute) {
      return ParseVerdict::kIpv4SourceRoute;
    }
    at += option_bytes;
  }
  return ParseVerdict::kOk;
}

// Leaves the cursor at the transport header and stores the protocol's number.
ParseVerdict parse_ipv4(Cursor& cursor, ParsedPacket& parsed, uint8_t& protocol) {
  if (const ParseVerdict v = cursor.need(ipv4::kHeaderBytesMin); v != ParseVerdict::kOk) return v;
  const uint8_t* header = cursor.at();
  if (header[ipv4::kVersionAndLength] >> 4 != 4) return ParseVerdict::kBadHeader;
  const size_t header_bytes = size_t{4} * (header[ipv4::kVersionAndLength] & 15);
  if (header_bytes < ipv4::kHeaderBytesMin) return ParseVerdict::kBadHeader;
  if (const ParseVerdict v = cursor.need(header_bytes); v != ParseVerdict::kOk) return v;
  if (checksum_of(sum_words({header, header_bytes})) != 0) return ParseVerdict::kBadChecksum;

  parsed.ip_bytes = load_be16(header + ipv4::kTotalLength);
  if (parsed.ip_bytes < header_bytes) return ParseVerdict::kBadHeader;
  if (cursor.offset + parsed.ip_bytes > cursor.packet.total_bytes) return ParseVerdict::kTruncated;
  const uint16_t fragment = load_be16(header + ipv4::kFragment);
  parsed.fragment.id = load_be16(header + ipv4::kIdentification);
  parsed.fragment.offset = uint32_t{8} * (fragment & ipv4::kFragmentOffsetMask);
  parsed.fragment.bytes = parsed.ip_bytes - static_cast<uint32_t>(header_bytes);
  parsed.fragment.is_last = (fragment & ipv4::kMoreFragments) == 0;
  if (!parsed.fragment.is_one()) parsed.fragment = {};

  parsed.ttl = header[ipv4::kTtl];
  protocol = header[ipv4::kProtocol];
  cursor.offset += static_cast<uint32_t>(header_bytes);
  return check_ipv4_options({header + ipv4::kHeaderBytesMin, header_bytes - ipv4::kHeaderBytesMin});
}

// Whether the packet may go on behind this extension header.
ParseVerdict check_extension_header(uint8_t type, const uint8_t* header) {
  if (type == ipv6::kRouting && header[ipv6::kRoutingSegmentsLeft] > 0) {
    return ParseVerdict::kIpv6RoutingHeader;
  }
  return ParseVerdict::kOk;
}

// What a fragment header says; nothing changes when the packet is whole all the same (RFC 6946).
// The header's payload ends at `ip_end`.
ParseVerdict read_fragment_header(const Cursor& cursor, uint32_t ip_end, Fragment& fragment) {
  const uint8_t* header = cursor.at();
  const uint16_t field = load_be16(header + ipv6::kFragmentOffsetAndFlags);
  const Fragment read = {
      .id = load_be32(header + ipv6::kFragmentIdentification),
      .offset = uint32_t{field} & ipv6::kFragmentOffsetMask,
      .bytes = ip_end - cursor.offset - static_cast<uint32_t>(ipv6::kExtensionBytesMin),
      .is_last = (field & ipv6::kMoreFragments) == 0};
  if (!read.is_one()) return ParseVerdict::kOk;
  if (fragment.is_one()) return ParseVerdict::kBadFragment;  // a fragment of a fragment
  fragment = read;
  return ParseVerdict::kOk;
}

// Walks the chain; the cursor is behind the IPv6 header. Leaves it at the transport header, or
// behind the fragment header of a fragment that is not the first: what follows there is the middle
// of something.
ParseVerdict parse_extension_headers(Cursor& cursor, uint32_t ip_end, Fragment& fragment,
                                     uint8_t& next_header) {
  for (size_t count = 0; is_extension_header(next_header); ++count) {
    if (count == ipv6::kExtensionHeadersMax) return ParseVerdict::kTooManyExtensionHeaders;
    if (next_header == ipv6::kHopByHop && count != 0) return ParseVerdict::kBadHeader;
    if (cursor.offset + ipv6::kExtensionBytesMin > ip_end) return ParseVerdict::kBadHeader;
    if (const ParseVerdict v = cursor.need(ipv6::kExtensionBytesMin); v != ParseVerdict::kOk)
      return v;
    const uint8_t* header = cursor.at();
    const size_t header_bytes = extension_header_bytes(next_header, header[ipv6::kExtensionLength]);
    if (cursor.offset + header_bytes > ip_end) return ParseVerdict::kBadHeader;
    const ParseVerdict verdict = check_extension_header(next_header, header);
    if (verdict != ParseVerdict::kOk) return verdict;
    if (next_header == ipv6::kFragmentHeader) {
      const ParseVerdict read = read_fragment_header(cursor, ip_end, fragment);
      if (read != ParseVerdict::kOk) return read;
    }
    next_header = header[ipv6::kExtensionNextHeader];
    cursor.offset += static_cast<uint32_t>(header_bytes);
    if (fragment.offset != 0) return ParseVerdict::kOk;
  }
  return ParseVerdict::kOk;
}

// Leaves the cursor at the transport header and stores the protocol's number.
ParseVerdict parse_ipv6(Cursor& cursor, ParsedPacket& parsed, uint8_t& protocol) {
  if (const ParseVerdict v = cursor.need(ipv6::kHeaderBytes); v != ParseVerdict::kOk) return v;
  const uint8_t* header = cursor.at();
  if (header[0] >> 4 != 6) return ParseVerdict::kBadHeader;
  parsed.is_ipv6 = true;
  parsed.ip_bytes =
      static_cast<uint32_t>(ipv6::kHeaderBytes) + load_be16(header + ipv6::kPayloadLength);
  const uint32_t ip_end = cursor.offset + parsed.ip_bytes;
  if (ip_end > cursor.packet.total_bytes) return ParseVerdict::kTruncated;

  parsed.ttl = header[ipv6::kHopLimit];
  protocol = header[ipv6::kNextHeader];
  cursor.offset += static_cast<uint32_t>(ipv6::kHeaderBytes);
  return parse_extension_headers(cursor, ip_end, parsed.fragment, protocol);
}

ParseVerdict parse_tcp(const Cursor& cursor, ParsedPacket& parsed) {
  if (parsed.l4_bytes < tcp::kHeaderBytesMin) return ParseVerdict::kBadHeader;
  if (const ParseVerdict v = cursor.need(tcp::kHeaderBytesMin); v != ParseVerdict::kOk) return v;
  const uint8_t* header = cursor.at();
  const size_t header_bytes = size_t{4} * (header[tcp::kDataOffset] >> 4);
  if (header_bytes < tcp::kHeaderBytesMin || header_bytes > parsed.l4_bytes)
    return ParseVerdict::kBadHeader;
  parsed.source_port = load_be16(header + tcp::kSourcePort);
  parsed.destination_port = load_be16(header + tcp::kDestinationPort);
  parsed.tcp_flags = header[tcp::kFlags];
  return ParseVerdict::kOk;
}

ParseVerdict parse_udp(const Cursor& cursor, ParsedPacket& parsed) {
  if (parsed.l4_bytes < udp::kHeaderBytes) return ParseVerdict::kBadHeader;
  if (const ParseVerdict v = cursor.need(udp::kHeaderBytes); v != ParseVerdict::kOk) return v;
  const uint8_t* header = cursor.at();
  const uint16_t udp_bytes = load_be16(header + udp::kLength);
  if (udp_bytes < udp::kHeaderBytes) return ParseVerdict::kBadHeader;
  if (!parsed.fragment.is_one()) {
    if (udp_bytes > parsed.l4_bytes) return ParseVerdict::kBadHeader;
    parsed.l4_bytes = udp_bytes;
  }
  parsed.source_port = load_be16(header + udp::kSourcePort);
  parsed.destination_port = load_be16(header + udp::kDestinationPort);
  return ParseVerdict::kOk;
}

ParseVerdict parse_l4(const Cursor& cursor, ParsedPacket& parsed) {
  switch (parsed.protocol) {
    case IpProtocol::kTcp:
      return parse_tcp(cursor, parsed);
    case IpProtocol::kUdp:
      return parse_udp(cursor, parsed);
  }
  return ParseVerdict::kUnsupportedProtocol;
}

// Of a fragment of anything: whether it could be one of a datagram (I5).
bool is_possible_fragment(const ParsedPacket& parsed) {
  const Fragment& fragment = parsed.fragment;
  // IPv4's length counts the header too.
  const size_t header_bytes = parsed.is_ipv6 ? 0 : ipv4::kHeaderBytesMin;
  return fragment.bytes != 0 && (fragment.is_last || fragment.bytes % 8 == 0) &&
         header_bytes + fragment.offset + fragment.bytes <= kIpBytesMax;
}

// A fragment of TCP or UDP. The first one has the transport header, all of it, and is parsed as a
// packet is; the others are the payload's middle.
ParseVerdict parse_fragment(const Cursor& cursor, ParsedPacket& parsed) {
  if (!is_possible_fragment(parsed)) return ParseVerdict::kBadFragment;
  if (parsed.fragment.offset == 0) {
    const ParseVerdict verdict = parse_l4(cursor, parsed);
    if (verdict == ParseVerdict::kBadHeader) return ParseVerdict::kBadFragment;
    return verdict == ParseVerdict::kOk ? ParseVerdict::kFragment : verdict;
  }
  // It would overlap the TCP header (RFC 3128). UDP's is shorter than the least offset.
  if (parsed.protocol == IpProtocol::kTcp && parsed.fragment.offset < tcp::kHeaderBytesMin) {
    return ParseVerdict::kBadFragment;
  }
  // Behind an IPv6 fragment header there may be options before TCP or UDP; only the first tells.
  const bool is_tracked =
      parsed.protocol == IpProtocol::kTcp || parsed.protocol == IpProtocol::kUdp ||
      (parsed.is_ipv6 && is_extension_header(static_cast<uint8_t>(parsed.protocol)));
  return is_tracked ? ParseVerdict::kFragment : ParseVerdict::kUnsupportedProtocol;
}

}  // namespace

ParseVerdict parse(const Packet& packet, ParsedPacket& parsed) {
  ROOST_DEBUG_ASSERT(packet.contiguous_bytes <= packet.total_bytes);
  parsed = ParsedPacket();
  Cursor cursor{packet};
  uint16_t ether_type = 0;
  if (const ParseVerdict v = parse_ethernet(cursor, parsed, ether_type); v != ParseVerdict::kOk)
    return v;
  if (ether_type != ethernet::kIpv4 && ether_type != ethernet::kIpv6) return ParseVerdict::kNotIp;

  parsed.ip_offset = static_cast<uint16_t>(cursor.offset);
  uint8_t protocol = 0;
  const ParseVerdict ip_verdict = ether_type == ethernet::kIpv4
                                      ? parse_ipv4(cursor, parsed, protocol)
                                      : parse_ipv6(cursor, parsed, protocol);
  if (ip_verdict != ParseVerdict::kOk) return ip_verdict;

  parsed.l4_offset = static_cast<uint16_t>(cursor.offset);
  parsed.l4_bytes = parsed.ip_offset + parsed.ip_bytes - cursor.offset;
  parsed.protocol = IpProtocol{protocol};
  return parsed.fragment.is_one() ? parse_fragment(cursor, parsed) : parse_l4(cursor, parsed);
}

std::string_view parse_verdict_name(ParseVerdict verdict) {
  switch (verdict) {
    case ParseVerdict::kOk:
      return "ok";
    case ParseVerdict::kTruncated:
      return "truncated";
    case ParseVerdict::kSplitHeaders:
      return "split_headers";
    case ParseVerdict::kNotIp:
      return "not_ip";
    case ParseVerdict::kBadHeader:
      return "bad_header";
    case ParseVerdict::kBadChecksum:
      return "bad_checksum";
    case ParseVerdict::kFragment:
      return "fragment";
    case ParseVerdict::kBadFragment:
      return "bad_fragment";
    case ParseVerdict::kIpv4SourceRoute:
      return "ipv4_source_route";
    case ParseVerdict::kIpv6RoutingHeader:
      return "ipv6_routing_header";
    case ParseVerdict::kTooManyExtensionHeaders:
      return "too_many_extension_headers";
    case ParseVerdict::kUnsupportedProtocol:
      return "unsupported_protocol";
  }
  ROOST_ASSERT(false);
}

}  // namespace roost::net
