// Changes in place of a packet that parsed as kOk, or of ICMP echo that has its ports (echo.h): its
// addresses and ports, its time to live, its MAC addresses and VLAN tags. Checksums are updated for
// what changed, never recomputed, so that a packet that was damaged on its way stays recognisably
// damaged.
//
// Each function takes what parse() found and keeps it true; nothing outside the packet's headers is
// touched.
#pragma once

#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/address.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/flow_key.h"
#include "roost/net/headers.h"
#include "roost/net/l4_ports.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Source and destination address translation. The endpoint must be of the packet's family. A UDP
// checksum of 0 (none) stays 0. The end of ICMP echo that does not ask has no port to change. Of a
// packet that parsed as kFragment, ports and checksum are in the first fragment only; in later ones
// the address alone is changed.
void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint4& source);
void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint6& source);
void rewrite_destination(const Packet& packet, ParsedPacket& parsed, const Endpoint4& destination);
void rewrite_destination(const Packet& packet, ParsedPacket& parsed, const Endpoint6& destination);

// One less of the time to live or hop limit. It must be 1 or more; that a router drops a packet
// whose time ends here (RFC 1812 section 5.3.1: 1 or less on arrival) is the caller's to decide.
void decrement_ttl(const Packet& packet, ParsedPacket& parsed);

struct MacPair {
  MacAddress source{};
  MacAddress destination{};
};

// Reading is possible for every frame that did not parse as kTruncated or kSplitHeaders.
[[nodiscard]] MacPair read_macs(const Packet& packet);
void rewrite_macs(const Packet& packet, const MacPair& macs);

// Of the frame's VLAN tags the `popped` outermost go, and then those of `pushed` come before what
// is left: the MAC addresses move, everything behind the tags stays where it is. Moves
// `packet.data` and with it the packet's lengths and headroom. False, and nothing changed, when the
// headroom is too small for the tags to add. The frame has the popped tags.
[[nodiscard]] bool edit_vlan_tags(Packet& packet, size_t popped, const VlanTags& pushed);

// Replaces all tags of a parsed packet, in the same way, and moves the offsets in `parsed`.
[[nodiscard]] bool rewrite_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted);

// --- Definitions, in line: every packet goes through them. ---

namespace detail {

enum class Side : uint8_t { kSource, kDestination };

inline void update_checksum(uint8_t* field, const ChecksumChange& change) {
  store_be16(field, change.apply(load_be16(field)));
}

inline void update_l4_checksum(uint8_t* l4, IpProtocol protocol, const ChecksumChange& change) {
  uint8_t* field = l4 + l4_checksum_offset(protocol);
  if (protocol == IpProtocol::kUdp) {
    store_be16(field, change.apply_udp(load_be16(field)));
  } else {
    update_checksum(field, change);
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
  if (!covers_addresses(parsed.protocol)) change = {};
  if (uint8_t* field = port_field(l4, parsed.protocol, is_source)) {
    change.change16(load_be16(field), to.port);
    store_be16(field, to.port);
    (is_source ? parsed.source_port : parsed.destination_port) = to.port;
  }
  update_l4_checksum(l4, parsed.protocol, change);
}

}  // namespace detail

inline void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint4& source) {
  detail::rewrite_endpoint(packet, parsed, detail::Side::kSource, source);
}

inline void rewrite_source(const Packet& packet, ParsedPacket& parsed, const Endpoint6& source) {
  detail::rewrite_endpoint(packet, parsed, detail::Side::kSource, source);
}

inline void rewrite_destination(const Packet& packet, ParsedPacket& parsed,
                                const Endpoint4& destination) {
  detail::rewrite_endpoint(packet, parsed, detail::Side::kDestination, destination);
}

inline void rewrite_destination(const Packet& packet, ParsedPacket& parsed,
                                const Endpoint6& destination) {
  detail::rewrite_endpoint(packet, parsed, detail::Side::kDestination, destination);
}

inline void decrement_ttl(const Packet& packet, ParsedPacket& parsed) {
  ROOST_DEBUG_ASSERT(parsed.ttl > 0);
  uint8_t* ip = packet.data + parsed.ip_offset;
  --parsed.ttl;
  if (parsed.is_ipv6) {
    ip[ipv6::kHopLimit] = parsed.ttl;
    return;
  }
  // The time to live is the high half of a word that it shares with the protocol. What was just
  // written in part is not read as a whole: a processor would wait until it has left its buffers.
  const uint16_t before = load_be16(ip + ipv4::kTtl);
  ip[ipv4::kTtl] = parsed.ttl;
  ChecksumChange change;
  change.change16(before, static_cast<uint16_t>(before - 0x100));
  detail::update_checksum(ip + ipv4::kChecksum, change);
}

inline MacPair read_macs(const Packet& packet) {
  MacPair macs;
  std::memcpy(&macs.source, packet.data + ethernet::kSource, sizeof macs.source);
  std::memcpy(&macs.destination, packet.data + ethernet::kDestination, sizeof macs.destination);
  return macs;
}

inline void rewrite_macs(const Packet& packet, const MacPair& macs) {
  std::memcpy(packet.data + ethernet::kSource, &macs.source, sizeof macs.source);
  std::memcpy(packet.data + ethernet::kDestination, &macs.destination, sizeof macs.destination);
}

// The same, where there are tags on either side.
[[nodiscard]] bool replace_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted);

inline bool rewrite_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted) {
  if (parsed.vlan.count == 0 && wanted.count == 0) return true;
  return replace_vlan_tags(packet, parsed, wanted);
}

}  // namespace roost::net
