// From the bytes of a frame to where its headers are and what they say: Ethernet, up to two VLAN
// tags, IPv4 with options or IPv6 with extension headers, then TCP or UDP.
//
// A cursor walks the headers. Before each read it asks whether the bytes are there, twice over: the
// frame must reach that far (`total_bytes`), and so must its first segment (`contiguous_bytes`),
// which alone is touched. A frame can be any bytes at all; whatever they are, the answer is a
// verdict.
//
// What a packet must satisfy to be kOk, beside having its bytes:
//
// I1 (IPv4) Version 4, header length 5 or more, total length at least that and within the frame,
//    header checksum right, options well-formed and no source route among them.
// I2 (IPv6) Version 6, payload length within the frame, at most ipv6::kExtensionHeadersMax
//    extension headers, hop-by-hop options only as the first of them, and no routing header with
//    segments left.
// I3 Not a fragment. An IPv6 fragment header with offset 0 and no more to come is not one
//    (RFC 6946).
// I4 TCP: data offset 5 or more, and within the IP packet.
//    UDP: length 8 or more, and within the IP packet.
//
// A fragment is kFragment when it is right in all but I3, and
// I5 it has bytes, a multiple of 8 unless it is the last one; it ends within 65,535 bytes; the
// first
//    one has the whole header of TCP or UDP, and no other reaches into that of TCP (RFC 3128);
//    it is not itself a fragment of a fragment.
//
// Bytes after the IP packet are padding and are ignored. The checksum of TCP and UDP is not
// verified here (l4_checksum.h), and addresses are not judged (martian.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/vlan_tags.h"

namespace roost::net {

enum class ParseVerdict : uint8_t {
  kOk,
  kTruncated,                // the frame ends before its headers do, or before the IP packet does
  kSplitHeaders,             // the frame has the headers, but its first segment has not
  kNotIp,                    // another EtherType, an 802.3 length, or a third VLAN tag
  kBadHeader,                // a version, length, offset or option that cannot be
  kBadChecksum,              // of the IPv4 header
  kFragment,                 // any fragment, the first one included
  kBadFragment,              // one that no honest sender makes: I5
  kIpv4SourceRoute,          // the destination in the header is not the final one
  kIpv6RoutingHeader,        // the same, by a routing header with segments left
  kTooManyExtensionHeaders,  // more than ipv6::kExtensionHeadersMax
  kUnsupportedProtocol,      // neither TCP nor UDP
};
inline constexpr size_t kParseVerdictCount = 12;

// The name of a verdict as reports write it: "ok", "truncated", "split_headers", "not_ip", ...
[[nodiscard]] std::string_view parse_verdict_name(ParseVerdict verdict);

// Which part of a datagram a packet is. That of a whole packet is all default.
struct Fragment {
  uint32_t id = 0;      // the same in all fragments of a datagram
  uint32_t offset = 0;  // of its first byte, in what the datagram's IP header carries
  uint32_t bytes = 0;   // of that, here
  bool is_last = true;

  [[nodiscard]] constexpr bool is_one() const { return offset != 0 || !is_last; }
  [[nodiscard]] constexpr bool is_later() const { return offset != 0; }  // it has no ports
  bool operator==(const Fragment&) const = default;
};

// What parse() found. Offsets count from Packet::data. All of it holds if the verdict is
// kOk; the VLAN tags, if the verdict is another one than kTruncated and kSplitHeaders. With
// kFragment all of it holds too, but that a later fragment has no ports and flags; l4_offset and
// l4_bytes are then those of what it carries, and protocol may be an IPv6 extension header's. With
// kUnsupportedProtocol all but ports and flags.
struct ParsedPacket {
  VlanTags vlan;
  bool is_ipv6 = false;
  IpProtocol protocol{};
  uint8_t ttl = 0;        // or hop limit
  uint8_t tcp_flags = 0;  // tcp::kSyn and so on; 0 for UDP
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t ip_offset = 0;
  uint16_t l4_offset = 0;
  uint32_t ip_bytes = 0;  // from ip_offset to the end of the IP packet
  uint32_t l4_bytes = 0;  // TCP or UDP header and payload; for UDP what its own length says
  Fragment fragment;

  bool operator==(const ParsedPacket&) const = default;
};

// Reads nothing outside the first `contiguous_bytes` bytes at `packet.data`.
[[nodiscard]] ParseVerdict parse(const Packet& packet, ParsedPacket& parsed);

}  // namespace roost::net
