// Packets from one IP version to the other: see ip_translation.h.
#include "roost/net/ip_translation.h"

#include <array>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/ipv6_extension.h"

namespace roost::net {
namespace {

constexpr int kTrafficClassShift = 4;

// What stands before the data that an IPv4 packet would carry.
struct HeaderChain {
  uint32_t bytes = 0;            // IPv6 header and extension headers
  uint32_t fragment_offset = 0;  // where a fragment header stands, from the IPv6 header; 0: none
  bool is_translatable = false;
};

// parse() has seen that the chain is there.
HeaderChain read_chain(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  HeaderChain chain{.bytes = ipv6::kHeaderBytes};
  uint8_t next_header = ip[ipv6::kNextHeader];
  while (is_extension_header(next_header) && next_header != ipv6::kAuthentication) {
    const uint8_t* header = ip + chain.bytes;
    const bool is_fragment_header = next_header == ipv6::kFragmentHeader;
    if (is_fragment_header) chain.fragment_offset = chain.bytes;
    chain.bytes +=
        static_cast<uint32_t>(extension_header_bytes(next_header, header[ipv6::kExtensionLength]));
    next_header = header[ipv6::kExtensionNextHeader];
    if (is_fragment_header && parsed.fragment.is_one()) break;  // the rest is data
  }
  // A later fragment's may be an extension header still.
  chain.is_translatable =
      next_header == static_cast<uint8_t>(parsed.protocol) &&
      (parsed.protocol == IpProtocol::kTcp || parsed.protocol == IpProtocol::kUdp);
  return chain;
}

uint32_t ipv4_header_bytes(const Packet& packet, const ParsedPacket& parsed) {
  return 4U * (packet.data[parsed.ip_offset] & 15U);
}

bool lacks_checksum(const Packet& packet, const ParsedPacket& parsed) {
  return parsed.protocol == IpProtocol::kUdp && !parsed.fragment.is_later() &&
         load_be16(packet.data + parsed.l4_offset + udp::kChecksum) == 0;
}

void make_udp_checksum(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* l4 = packet.data + parsed.l4_offset;
  const uint64_t sum = pseudo_header_sum({ip + ipv6::kSource, sizeof(Ipv6Address)},
                                         {ip + ipv6::kDestination, sizeof(Ipv6Address)},
                                         parsed.protocol, parsed.l4_bytes) +
                       sum_words({l4, parsed.l4_bytes});
  store_be16(l4 + udp::kChecksum, udp_checksum_of(sum));
}

void set_ether_type(const Packet& packet, const ParsedPacket& parsed, uint16_t ether_type) {
  store_be16(packet.data + parsed.ip_offset - ethernet::kEtherTypeBytes, ether_type);
}

}  // namespace

void move_front(Packet& packet, size_t bytes, ptrdiff_t growth) {
  ROOST_ASSERT(growth <= static_cast<ptrdiff_t>(packet.headroom));
  std::memmove(packet.data - growth, packet.data, bytes);
  packet.data -= growth;
  packet.headroom = static_cast<uint32_t>(packet.headroom - growth);
  packet.contiguous_bytes = static_cast<uint32_t>(packet.contiguous_bytes + growth);
  packet.total_bytes = static_cast<uint32_t>(packet.total_bytes + growth);
}

void write_ipv4_header(uint8_t* ip, const Ipv4HeaderFields& fields) {
  ip[ipv4::kVersionAndLength] = 0x45;
  ip[ipv4::kTypeOfService] = fields.type_of_service;
  store_be16(ip + ipv4::kTotalLength, static_cast<uint16_t>(fields.total_bytes));
  store_be16(ip + ipv4::kIdentification, fields.identification);
  store_be16(ip + ipv4::kFragment, fields.fragment);
  ip[ipv4::kTtl] = fields.ttl;
  ip[ipv4::kProtocol] = fields.protocol;
  store_be16(ip + ipv4::kChecksum, 0);
  std::memcpy(ip + ipv4::kSource, &fields.source, sizeof fields.source);
  std::memcpy(ip + ipv4::kDestination, &fields.destination, sizeof fields.destination);
  store_be16(ip + ipv4::kChecksum, checksum_of(sum_words({ip, ipv4::kHeaderBytesMin})));
}

void write_ipv6_header(uint8_t* ip, const Ipv6HeaderFields& fields) {
  store_be16(ip, static_cast<uint16_t>(0x6000 | fields.traffic_class << kTrafficClassShift));
  store_be16(ip + 2, 0);  // the flow label's other bits
  store_be16(ip + ipv6::kPayloadLength, static_cast<uint16_t>(fields.payload_bytes));
  ip[ipv6::kNextHeader] = fields.next_header;
  ip[ipv6::kHopLimit] = fields.hop_limit;
  std::memcpy(ip + ipv6::kSource, &fields.source, sizeof fields.source);
  std::memcpy(ip + ipv6::kDestination, &fields.destination, sizeof fields.destination);
}

Ipv6HeaderFields as_ipv6(const uint8_t* ip) {
  Ipv4Address source;
  Ipv4Address destination;
  std::memcpy(&source, ip + ipv4::kSource, sizeof source);
  std::memcpy(&destination, ip + ipv4::kDestination, sizeof destination);
  return {.traffic_class = ip[ipv4::kTypeOfService],
          .next_header = ip[ipv4::kProtocol],
          .hop_limit = ip[ipv4::kTtl],
          .source = ipv4_mapped(source),
          .destination = ipv4_mapped(destination)};
}

Ipv4HeaderFields as_ipv4(const uint8_t* ip) {
  Ipv6Address source;
  Ipv6Address destination;
  std::memcpy(&source, ip + ipv6::kSource, sizeof source);
  std::memcpy(&destination, ip + ipv6::kDestination, sizeof destination);
  return {.type_of_service = static_cast<uint8_t>(load_be16(ip) >> kTrafficClassShift),
          .ttl = ip[ipv6::kHopLimit],
          .source = ipv4_of(source),
          .destination = ipv4_of(destination)};
}

void write_fragment_header(uint8_t* header, const FragmentHeaderFields& fields) {
  header[ipv6::kExtensionNextHeader] = fields.next_header;
  header[ipv6::kExtensionLength] = 0;
  store_be16(header + ipv6::kFragmentOffsetAndFlags,
             static_cast<uint16_t>(fields.offset | (fields.is_last ? 0U : ipv6::kMoreFragments)));
  store_be32(header + ipv6::kFragmentIdentification, fields.identification);
}

uint16_t ipv4_fragment_field(const uint8_t* fragment_header) {
  const uint16_t field = load_be16(fragment_header + ipv6::kFragmentOffsetAndFlags);
  const uint32_t units = (field & ipv6::kFragmentOffsetMask) / 8U;
  const bool is_last = (field & ipv6::kMoreFragments) == 0;
  return static_cast<uint16_t>(units | (is_last ? 0U : ipv4::kMoreFragments));
}

std::optional<ptrdiff_t> translation_growth(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.is_ipv6) {
    const HeaderChain chain = read_chain(packet, parsed);
    const uint32_t carried = parsed.ip_bytes - chain.bytes;
    const bool fits = ipv4::kHeaderBytesMin + parsed.fragment.offset + carried <= kIpBytesMax;
    if (!chain.is_translatable || !fits || lacks_checksum(packet, parsed)) return {};
    return static_cast<ptrdiff_t>(ipv4::kHeaderBytesMin) - static_cast<ptrdiff_t>(chain.bytes);
  }
  const bool is_fragment = parsed.fragment.is_one();
  if (lacks_checksum(packet, parsed) &&
      (is_fragment || parsed.l4_offset + parsed.l4_bytes > packet.contiguous_bytes)) {
    return {};
  }
  const size_t bytes = ipv6::kHeaderBytes + (is_fragment ? ipv6::kExtensionBytesMin : 0);
  return static_cast<ptrdiff_t>(bytes) - static_cast<ptrdiff_t>(ipv4_header_bytes(packet, parsed));
}

void translate_to_ipv6(Packet& packet, ParsedPacket& parsed, bool is_to_be_cut) {
  ROOST_ASSERT(!parsed.is_ipv6);
  const uint8_t* before = packet.data + parsed.ip_offset;
  const bool has_fragment_header = is_to_be_cut || parsed.fragment.is_one();
  const uint32_t header_bytes =
      ipv6::kHeaderBytes + (has_fragment_header ? ipv6::kExtensionBytesMin : 0);
  const uint32_t bytes_before = ipv4_header_bytes(packet, parsed);
  const bool needs_checksum = lacks_checksum(packet, parsed);
  Ipv6HeaderFields fields = as_ipv6(before);
  const FragmentHeaderFields fragment{.next_header = fields.next_header,
                                      .offset = parsed.fragment.offset,
                                      .is_last = parsed.fragment.is_last,
                                      .identification = load_be16(before + ipv4::kIdentification)};
  fields.payload_bytes =
      parsed.ip_bytes - bytes_before + header_bytes - uint32_t{ipv6::kHeaderBytes};
  if (has_fragment_header) fields.next_header = ipv6::kFragmentHeader;

  move_front(packet, parsed.ip_offset, ptrdiff_t{header_bytes} - ptrdiff_t{bytes_before});
  uint8_t* ip = packet.data + parsed.ip_offset;
  write_ipv6_header(ip, fields);
  if (has_fragment_header) write_fragment_header(ip + ipv6::kHeaderBytes, fragment);
  set_ether_type(packet, parsed, ethernet::kIpv6);
  parsed.is_ipv6 = true;
  parsed.l4_offset = static_cast<uint16_t>(parsed.ip_offset + header_bytes);
  parsed.ip_bytes = static_cast<uint32_t>(ipv6::kHeaderBytes) + fields.payload_bytes;
  if (needs_checksum) make_udp_checksum(packet, parsed);
}

void translate_to_ipv4(Packet& packet, ParsedPacket& parsed, uint16_t identification) {
  ROOST_ASSERT(parsed.is_ipv6);
  const uint8_t* before = packet.data + parsed.ip_offset;
  const HeaderChain chain = read_chain(packet, parsed);
  Ipv4HeaderFields fields = as_ipv4(before);
  fields.protocol = static_cast<uint8_t>(parsed.protocol);
  fields.total_bytes = parsed.ip_bytes - chain.bytes + uint32_t{ipv4::kHeaderBytesMin};
  if (chain.fragment_offset != 0) {
    const uint8_t* fragment = before + chain.fragment_offset;
    fields.fragment = ipv4_fragment_field(fragment);
    fields.identification = load_be16(fragment + ipv6::kFragmentIdentification + 2);
  } else {
    fields.fragment = fields.total_bytes <= kMayBeCutBytes ? uint16_t{0} : ipv4::kDontFragment;
    fields.identification = identification;
  }

  move_front(packet, parsed.ip_offset,
             static_cast<ptrdiff_t>(ipv4::kHeaderBytesMin) - ptrdiff_t{chain.bytes});
  write_ipv4_header(packet.data + parsed.ip_offset, fields);
  set_ether_type(packet, parsed, ethernet::kIpv4);
  parsed.is_ipv6 = false;
  parsed.fragment.id &= UINT16_MAX;
  parsed.l4_offset = static_cast<uint16_t>(parsed.ip_offset + ipv4::kHeaderBytesMin);
  parsed.ip_bytes = fields.total_bytes;
}

}  // namespace roost::net
