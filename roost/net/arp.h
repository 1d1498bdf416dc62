// ARP messages for IPv4 over Ethernet: RFC 826, and RFC 5227 for what a sender of 0.0.0.0 means.
// Bytes to values and back; whether a message is accepted is roost/l3's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/net/address.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

inline constexpr size_t kArpBytes = 28;  // behind the EtherType

struct ArpMessage {
  bool is_request = false;  // else a reply
  MacAddress sender_mac{};
  Ipv4Address sender{};  // 0.0.0.0: a probe, whether an address is in use
  MacAddress target_mac{};
  Ipv4Address target{};

  bool operator==(const ArpMessage&) const = default;
};

// Where the EtherType of a frame stands that did not parse as kTruncated or kSplitHeaders.
[[nodiscard]] inline size_t ether_type_offset(const ParsedPacket& parsed) {
  return ethernet::kAddressesBytes + parsed.vlan.count * vlan::kTagBytes;
}
// Whether such a frame, which parsed as kNotIp, is ARP.
[[nodiscard]] inline bool is_arp(const Packet& packet, const ParsedPacket& parsed) {
  return load_be16(packet.data + ether_type_offset(parsed)) == ethernet::kArp;
}

// Of the bytes behind the EtherType; what follows the message is padding. Nothing when they are no
// request or reply for IPv4 over Ethernet, or too few, or when the sender's MAC is that of a group
// or zero.
[[nodiscard]] std::optional<ArpMessage> parse_arp(std::span<const uint8_t> bytes);

// Writes kArpBytes bytes to the start of `to`.
void write_arp(std::span<uint8_t> to, const ArpMessage& message);

}  // namespace roost::net
