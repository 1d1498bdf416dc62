// ICMP errors of others about packets of a flow: what they are about, and how they are translated
// with it.
//
//   | IP: reporter -> sender | ICMP: type, code, checksum | IP: sender -> receiver | ports ... |
//                                                           the embedded packet, cut short
//
// An error goes to the sender of the packet that it embeds. So where addresses are translated, the
// sender has the embedded packet under other addresses and ports than the reporter, and cannot
// match an untranslated error to a flow. The embedded packet may end 8 bytes behind its IP
// header, so its own checksums are not verified, which a cut packet does not allow. They are
// updated for what changed.
//
// The outer packet's checksums do hold when this is done with it, and all updates are incremental.
#pragma once

#include <cstdint>
#include <cstring>

#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

enum class IcmpVerdict : uint8_t {
  kError,          // an error about a TCP or UDP packet or ICMP echo; IcmpError holds
  kNotIcmp,        // another protocol, or the other family's ICMP
  kNotError,       // an ICMP message that is no error, or one that is not forwarded (redirect)
  kTruncated,      // ends before what it must have, or is a fragment
  kSplitHeaders,   // not all of it is in the first segment
  kBadChecksum,    // of ICMP
  kBadEmbedded,    // what it embeds is not the start of an IP packet
  kLaterFragment,  // it embeds a fragment without ports
  kOtherProtocol,  // it embeds neither TCP, nor UDP, nor ICMP echo
};

// What parse_icmp_error() found. Offsets count from Packet::data. Only with kError. The
// ports of ICMP echo are those of read_echo_ports().
struct IcmpError {
  bool is_ipv6 = false;
  IpProtocol protocol{};  // of the embedded packet
  bool has_l4_checksum = false;
  uint16_t source_port = 0;  // of the embedded packet
  uint16_t destination_port = 0;
  uint16_t ip_offset = 0;  // of the error itself
  uint16_t icmp_offset = 0;
  uint16_t embedded_ip_offset = 0;
  uint16_t embedded_l4_offset = 0;

  bool operator==(const IcmpError&) const = default;
};

// `parsed` is what parse() found when it said kUnsupportedProtocol. The checksum of ICMP is
// verified: time grows with the message.
[[nodiscard]] IcmpVerdict parse_icmp_error(const Packet& packet, const ParsedPacket& parsed,
                                           IcmpError& error);

// The key of the flow that the embedded packet belongs to, in the direction that packet went.
template <class Key>
[[nodiscard]] Key embedded_key(const Packet& packet, const IcmpError& error) {
  ROOST_DEBUG_ASSERT(error.is_ipv6 == Key::kIsIpv6);
  const uint8_t* header = packet.data + error.embedded_ip_offset;
  Key key;
  std::memcpy(&key.source, header + (Key::kIsIpv6 ? ipv6::kSource : ipv4::kSource),
              sizeof key.source);
  std::memcpy(&key.destination, header + (Key::kIsIpv6 ? ipv6::kDestination : ipv4::kDestination),
              sizeof key.destination);
  key.source_port = error.source_port;
  key.destination_port = error.destination_port;
  key.protocol = error.protocol;
  return key;
}

// The embedded packet's source becomes `source`, and with it the address that the error goes to.
void rewrite_error_source(const Packet& packet, IcmpError& error, const Endpoint4& source);
void rewrite_error_source(const Packet& packet, IcmpError& error, const Endpoint6& source);

// The embedded packet's destination becomes `destination`, and the error comes from that address,
// whichever router sent it: its reader need not know the network behind the translation (RFC 5508
// REQ-5).
void rewrite_error_destination(const Packet& packet, IcmpError& error,
                               const Endpoint4& destination);
void rewrite_error_destination(const Packet& packet, IcmpError& error,
                               const Endpoint6& destination);

// The number of the first byte that the embedded TCP packet carries.
[[nodiscard]] uint32_t error_sequence(const Packet& packet, const IcmpError& error);
void rewrite_error_sequence(const Packet& packet, const IcmpError& error, uint32_t sequence);

// Of an error that says that the embedded packet was too big, the MTU that it names is so much less
// afterwards. Others stay as they are, and so do those that name none, or not so much.
void lower_error_mtu(const Packet& packet, const IcmpError& error, uint16_t bytes);

}  // namespace roost::net
