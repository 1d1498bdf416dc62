// Neighbour solicitations and advertisements of IPv6: RFC 4861 sections 4.3, 4.4 and 7.1. Bytes to
// values and back; whether a message is accepted is roost/l3's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/net/address.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

struct NeighbourMessage {
  bool is_solicitation = false;  // else an advertisement
  // Of an advertisement: the sender is a router; it is solicited; it replaces what is known.
  bool is_router = false;
  bool is_solicited = false;
  bool is_override = false;
  Ipv6Address source{};  // of a solicitation, :: means duplicate address detection
  Ipv6Address destination{};
  Ipv6Address target{};
  // The source link-layer address of a solicitation, the target's of an advertisement.
  std::optional<MacAddress> link_address{};

  bool operator==(const NeighbourMessage&) const = default;
};

// IPv6 header, message, and the option with a link-layer address.
inline constexpr size_t kNeighbourMessageBytes = 40 + 24 + 8;

// Of a packet that parsed as kUnsupportedProtocol because it is ICMPv6. Nothing when it is none of
// the two messages, or fails one of the checks of RFC 4861 sections 7.1.1 and 7.1.2 (hop limit,
// checksum, lengths, target, destination, options), or is not whole in its first buffer.
[[nodiscard]] std::optional<NeighbourMessage> parse_neighbour_message(const Packet& packet,
                                                                      const ParsedPacket& parsed);

// Writes an IPv6 packet with the message, kNeighbourMessageBytes long, or 8 less without a
// link-layer address; returns its length.
size_t write_neighbour_message(std::span<uint8_t> to, const NeighbourMessage& message);

// The group that a station with this address listens to: RFC 4291 section 2.7.1.
[[nodiscard]] Ipv6Address solicited_node_group(const Ipv6Address& address);

// The address of one link that a station makes of its MAC: RFC 4291 appendix A.
[[nodiscard]] Ipv6Address link_local_address(const MacAddress& mac);

// The MAC of an IPv6 group: RFC 2464 section 7.
[[nodiscard]] MacAddress group_mac(const Ipv6Address& group);

inline constexpr Ipv6Address kAllNodes = {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace roost::net
