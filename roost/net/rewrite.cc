// Rewrites in place: see rewrite.h.
#include "roost/net/rewrite.h"

#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"

namespace roost::net {
namespace {

enum class Side : uint8_t { kSource, kDestination };

void update_checksum(uint8_t* field, const ChecksumChange& change) {
  store_be16(field, change.apply(load_be16(field)));
}

void update_l4_checksum(uint8_t* l4, IpProtocol protocol, const ChecksumChange& change) {
  if (protocol == IpProtocol::kTcp) {
    update_checksum(l4 + tcp::kChecksum, change);
  } else {
    uint8_t* field = l4 + udp::kChecksum;
    store_be16(field, change.apply_udp(load_be16(field)));
  }
}

// Writes one end's address and port. The address is covered by the IPv4 header checksum and,
// through the pseudo header, by that of TCP or UDP; the port by the latter only.
template <class Address>
void rewrite_endpoint(const Packet& packet, ParsedPacket& parsed, Side side,
                      const Endpoint<Address>& to) {
  constexpr bool kIsIpv6 = sizeof(Address) == sizeof(Ipv6Address);
  ROOST_DEBUG_ASSERT(parsed.is_ipv6 == kIsIpv6);
  const bool is_source = side == Side::kSource;
  uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* l4 = packet.data + parsed.l4_offset;

  const size_t source_offset = kIsIpv6 ? ipv6::kSource : ipv4::kSource;
  const size_t destination_offset = kIsIpv6 ? ipv6::kDestination : ipv4::kDestination;
  uint8_t* address_field = ip + (is_source ? source_offset : destination_offset);
  Address from_address;
  std::memcpy(&from_address, address_field, sizeof from_address);
  ChecksumChange change;
  change.change(from_address, to.address);
  std::memcpy(address_field, &to.address, sizeof to.address);
  if constexpr (!kIsIpv6) update_checksum(ip + ipv4::kChecksum, change);

  // A later fragment has neither ports nor checksum: both are in the first one, which learns of the
  // addresses by itself.
  if (parsed.fragment.is_later()) return;
  static_assert(
      tcp::kSourcePort == udp::kSourcePort && tcp::kDestinationPort == udp::kDestinationPort,
      "ports are written without asking for the protocol");
  uint8_t* port_field = l4 + (is_source ? tcp::kSourcePort : tcp::kDestinationPort);
  change.change16(load_be16(port_field), to.port);
  store_be16(port_field, to.port);
  (is_source ? parsed.source_port : parsed.destination_port) = to.port;
  update_l4_checksum(l4, parsed.protocol, change);
}

}  // namespace

void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint4& source) {
  rewrite_endpoint(packet, parsed, Side::kSource, source);
}

void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint6& source) {
  rewrite_endpoint(packet, parsed, Side::kSource, source);
}

void rewrite_destination(const Packet& packet, ParsedPacket& parsed, const Endpoint4& destination) {
  rewrite_endpoint(packet, parsed, Side::kDestination, destination);
}

void rewrite_destination(const Packet& packet, ParsedPacket& parsed, const Endpoint6& destination) {
  rewrite_endpoint(packet, parsed, Side::kDestination, destination);
}

void decrement_ttl(const Packet& packet, ParsedPacket& parsed) {
  ROOST_DEBUG_ASSERT(parsed.ttl > 0);
  uint8_t* ip = packet.data + parsed.ip_offset;
  --parsed.ttl;
  if (parsed.is_ipv6) {
    ip[ipv6::kHopLimit] = parsed.ttl;
    return;
  }
  // The time to live is the high half of a word that it shares with the protocol.
  const uint16_t before = load_be16(ip + ipv4::kTtl);
  ip[ipv4::kTtl] = parsed.ttl;
  ChecksumChange change;
  change.change16(before, load_be16(ip + ipv4::kTtl));
  update_checksum(ip + ipv4::kChecksum, change);
}

MacPair read_macs(const Packet& packet) {
  MacPair macs;
  std::memcpy(&macs.source, packet.data + ethernet::kSource, sizeof macs.source);
  std::memcpy(&macs.destination, packet.data + ethernet::kDestination, sizeof macs.destination);
  return macs;
}

void rewrite_macs(const Packet& packet, const MacPair& macs) {
  std::memcpy(packet.data + ethernet::kSource, &macs.source, sizeof macs.source);
  std::memcpy(packet.data + ethernet::kDestination, &macs.destination, sizeof macs.destination);
}

bool rewrite_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted) {
  ROOST_DEBUG_ASSERT(wanted.count <= vlan::kTagsMax);
  const uint32_t tag_bytes_before = parsed.vlan.count * uint32_t{vlan::kTagBytes};
  const uint32_t tag_bytes_after = wanted.count * uint32_t{vlan::kTagBytes};
  if (tag_bytes_after > tag_bytes_before + packet.headroom) return false;

  uint8_t* start = packet.data + tag_bytes_before - tag_bytes_after;
  std::memmove(start, packet.data, ethernet::kAddressesBytes);
  for (size_t i = 0; i < wanted.count; ++i) {
    uint8_t* tag = start + ethernet::kAddressesBytes + i * vlan::kTagBytes;
    store_be16(tag, wanted.tags[i].protocol_identifier);
    store_be16(tag + 2, wanted.tags[i].control);
  }
  packet.data = start;
  packet.headroom = packet.headroom + tag_bytes_before - tag_bytes_after;
  packet.contiguous_bytes = packet.contiguous_bytes - tag_bytes_before + tag_bytes_after;
  packet.total_bytes = packet.total_bytes - tag_bytes_before + tag_bytes_after;
  const auto moved = [&](uint16_t offset) {
    return static_cast<uint16_t>(offset - tag_bytes_before + tag_bytes_after);
  };
  parsed.ip_offset = moved(parsed.ip_offset);
  parsed.l4_offset = moved(parsed.l4_offset);
  parsed.vlan = wanted;
  return true;
}

}  // namespace roost::net
