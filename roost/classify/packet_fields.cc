// Fields by name, and out of a packet: see packet_fields.h.
#include "roost/classify/packet_fields.h"

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"

namespace roost::classify {
namespace {

consteval bool fields_are_in_order() {
  for (size_t i = 0; i < kFields.size(); ++i) {
    if (static_cast<size_t>(kFields[i].field) != i) return false;
    const bool fits = kFields[i].bits == 128 ? kFields[i].word + 1u < kFieldWords
                                             : kFields[i].shift + kFields[i].bits <= 64;
    if (!fits) return false;
  }
  return true;
}
static_assert(fields_are_in_order(), "place_of() goes by the order, and fields stand inside words");

using detail::ones;

// Eight bytes in wire order as a number.
uint64_t load_be64(const uint8_t* at) {
  return uint64_t{net::load_be32(at)} << 32 | net::load_be32(at + 4);
}
uint64_t load_be48(const uint8_t* at) {
  return uint64_t{net::load_be16(at)} << 32 | net::load_be32(at + 2);
}

template <Field kField>
constexpr uint64_t in_place(uint64_t number) {
  constexpr unsigned kShift = place_of(kField).shift;
  return number << kShift;
}

bool is_icmp(const net::ParsedPacket& parsed) {
  return parsed.protocol == (parsed.is_ipv6 ? net::kProtocolIcmp6 : net::kProtocolIcmp4);
}

// Whether a transport header of so many bytes is there; of less than all of it, nothing is seen.
bool has_header(const net::Packet& packet, const net::ParsedPacket& parsed, uint32_t bytes) {
  return !parsed.fragment.is_later() && parsed.l4_bytes >= bytes &&
         parsed.l4_offset + bytes <= packet.contiguous_bytes;
}

bool is_sctp(const net::ParsedPacket& parsed) {
  constexpr uint8_t kSctp = 132;
  return static_cast<uint8_t>(parsed.protocol) == kSctp;
}

// What a later fragment of IPv6 carries, only the first one can know; in OpenFlow's switches it is
// of the protocol "fragment".
uint8_t protocol_of(const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6 && parsed.fragment.is_later()) return net::ipv6::kFragmentHeader;
  return static_cast<uint8_t>(parsed.protocol);
}

// The four bits beside the data offset as well, which OpenFlow counts among the flags.
uint64_t tcp_flags_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const bool is_seen = parsed.protocol == net::IpProtocol::kTcp && !parsed.fragment.is_later() &&
                       parsed.l4_bytes > net::tcp::kFlags &&
                       parsed.l4_offset + net::tcp::kFlags < packet.contiguous_bytes;
  if (!is_seen) return 0;
  return net::load_be16(packet.data + parsed.l4_offset + net::tcp::kDataOffset) & ones(12);
}

// Ports, or what stands in their place.
uint64_t transport_word(const net::Packet& packet, const net::ParsedPacket& parsed) {
  uint64_t first = parsed.source_port;
  uint64_t second = parsed.destination_port;
  if (is_icmp(parsed) && has_header(packet, parsed, net::icmp::kHeaderBytes)) {
    first = packet.data[parsed.l4_offset + net::icmp::kType];
    second = packet.data[parsed.l4_offset + net::icmp::kCode];
  }
  // The parser reads no ports of SCTP (RFC 9260), which stand where those of UDP do.
  constexpr uint32_t kSctpHeaderBytes = 12;
  if (is_sctp(parsed) && has_header(packet, parsed, kSctpHeaderBytes)) {
    first = net::load_be16(packet.data + parsed.l4_offset);
    second = net::load_be16(packet.data + parsed.l4_offset + 2);
  }
  return in_place<Field::kTpSrc>(first) | in_place<Field::kTpDst>(second) |
         in_place<Field::kIpProto>(protocol_of(parsed)) |
         in_place<Field::kTcpFlags>(tcp_flags_of(packet, parsed));
}

// Every word is written, and none twice: a loop that clears them first takes as long as all of
// this.
void set_ip(PacketFields& fields, const net::Packet& packet, const net::ParsedPacket& parsed) {
  const uint8_t* header = packet.data + parsed.ip_offset;
  uint64_t dscp = 0;
  if (parsed.is_ipv6) {
    fields.words[3] = 0;
    fields.words[4] = load_be64(header + net::ipv6::kSource);
    fields.words[5] = load_be64(header + net::ipv6::kSource + 8);
    fields.words[6] = load_be64(header + net::ipv6::kDestination);
    fields.words[7] = load_be64(header + net::ipv6::kDestination + 8);
    dscp = (net::load_be16(header) >> 6) & ones(6);  // version 4 bits, DSCP 6, ECN 2, flow label 4
  } else {
    fields.words[3] = load_be64(header + net::ipv4::kSource);
    for (size_t word = 4; word < 8; ++word) fields.words[word] = 0;
    dscp = header[net::ipv4::kTypeOfService] >> 2;
  }
  fields.words[8] = transport_word(packet, parsed) | in_place<Field::kIpDscp>(dscp);
}

uint64_t vlan_of(const net::VlanTags& tags) {
  if (tags.count == 0) return 0;
  return tags.tags[0].control | uint64_t{kVlanPresent};
}

uint64_t fragment_kind(const net::Fragment& fragment) {
  if (!fragment.is_one()) return 0;
  return fragment.is_later() ? kFragmentAny | kFragmentLater : kFragmentAny;
}

}  // namespace

FieldNumber all_ones(Field field) { return prefix_mask(field, place_of(field).bits); }

FieldNumber prefix_mask(Field field, unsigned prefix_bits) {
  const unsigned bits = place_of(field).bits;
  ROOST_ASSERT(prefix_bits <= bits);
  if (bits < 128) return {.low = ones(bits) & ~ones(bits - prefix_bits)};
  const unsigned high_bits = prefix_bits < 64 ? prefix_bits : 64;
  return {.high = ~ones(64 - high_bits), .low = ~ones(128 - (prefix_bits < 64 ? 64 : prefix_bits))};
}

void read_fields(const net::Packet& packet, const net::ParsedPacket& parsed,
                 net::ParseVerdict verdict, uint16_t in_port, PacketFields& fields) {
  ROOST_DEBUG_ASSERT(has_fields(verdict));
  const uint8_t* type_at =
      packet.data + net::ethernet::kAddressesBytes + parsed.vlan.count * net::vlan::kTagBytes;
  fields.words[0] = in_place<Field::kEthType>(net::load_be16(type_at)) |
                    in_place<Field::kVlan>(vlan_of(parsed.vlan)) |
                    in_place<Field::kInPort>(in_port) |
                    in_place<Field::kIpFrag>(fragment_kind(parsed.fragment));
  fields.words[1] = in_place<Field::kEthDst>(load_be48(packet.data + net::ethernet::kDestination));
  fields.words[2] = in_place<Field::kEthSrc>(load_be48(packet.data + net::ethernet::kSource));
  if (verdict != net::ParseVerdict::kNotIp) {
    set_ip(fields, packet, parsed);
  } else {
    for (size_t word = 3; word < 9; ++word) fields.words[word] = 0;
  }
  fields.words[9] = 0;
  fields.words[10] = 0;
}

}  // namespace roost::classify
