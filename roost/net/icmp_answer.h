// ICMP errors of our own: the answer to the sender of a packet that cannot go on.
//
// What an answer says is RFC 1812 section 4.3 (IPv4) and RFC 4443 section 2.4 (IPv6): it embeds the
// packet as it was received, and there is none about an ICMP error, about a fragment but the first,
// about what a group received, or to an address that is not one station's. How many are sent is the
// caller's to limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/net/address.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// An answer goes back the way the packet came: to the MAC that sent it.
struct IcmpAnswer {
  enum class Reason : uint8_t {
    kTooBig,           // fragmentation needed, or packet too big
    kTimeExceeded,     // in transit
    kNoRoute,          // no route to the network
    kHostUnreachable,  // its neighbour has failed
    kPortUnreachable,  // the destination does not serve it
    kProhibited,       // administratively, or because there is no room
  };
  Reason reason = Reason::kTimeExceeded;
  uint16_t mtu = 0;         // of the way out; only with kTooBig
  MacAddress source_mac{};  // of the port
  VlanTags vlan{};          // of the port's frames
  IpAddress source{};       // of the packet's family
};

inline constexpr size_t kIcmpAnswerBytesMax =
    ethernet::kHeaderBytes + vlan::kTagsMax * vlan::kTagBytes + icmp::kErrorBytesMax6;

// Writes the answer to `packet` as a whole frame to the start of `frame`, which has room for
// kIcmpAnswerBytesMax bytes, and returns its length; 0 when there must be none. `parsed` is what
// parse() found when it said kOk, kFragment or kUnsupportedProtocol.
[[nodiscard]] size_t make_icmp_answer(const Packet& packet, const ParsedPacket& parsed,
                                      const IcmpAnswer& answer, std::span<uint8_t> frame);

}  // namespace roost::net
