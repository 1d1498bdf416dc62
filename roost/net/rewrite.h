// Changes in place of a packet that parsed as kOk: its addresses and ports, its time to live, its
// MAC addresses and VLAN tags. Checksums are updated for what changed, never recomputed, so that a
// packet that was damaged on its way stays recognisably damaged.
//
// Each function takes what parse() found and keeps it true; nothing outside the packet's headers is
// touched.
#pragma once

#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Source and destination address translation. The endpoint must be of the packet's family. A UDP
// checksum of 0 (none) stays 0. Of a packet that parsed as kFragment, ports and checksum are in the
// first fragment only; in later ones the address alone is changed.
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

// Replaces the frame's VLAN tags by `wanted`: the MAC addresses move, everything behind the tags
// stays where it is. Moves `packet.data` and with it the packet's lengths and headroom and the
// offsets in `parsed`. False, and nothing changed, when the headroom is too small for the tags to
// add.
[[nodiscard]] bool rewrite_vlan_tags(Packet& packet, ParsedPacket& parsed, const VlanTags& wanted);

}  // namespace roost::net
