// Multicast listener discovery, the side of a listener: what a querier asks (RFC 2710 section 3,
// RFC 3810 section 5.1) and what a listener reports (RFC 2710, RFC 3810 section 5.2). Bytes to
// values and back; when to report is decided elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roost/net/address.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

struct ListenerQuery {
  bool is_version1 = false;
  Ipv6Address group{};           // :: asks for all groups
  uint32_t response_ms_max = 0;  // within which the answer is wanted

  bool operator==(const ListenerQuery&) const = default;
};

// Of a packet that parsed as kUnsupportedProtocol because it is ICMPv6. Nothing when it is no
// query, or fails one of the checks of RFC 3810 section 6.2 (source, hop limit, router alert), has
// a wrong checksum or length, or is not whole in its first buffer. The sources that a query
// lists are not read: a listener here listens to all sources of its group.
[[nodiscard]] std::optional<ListenerQuery> parse_listener_query(const Packet& packet,
                                                                const ParsedPacket& parsed);

// What a listener says of a group: RFC 3810 section 5.2.12, without sources.
struct ListenerRecord {
  enum class Kind : uint8_t {
    kListens = 2,  // in reply to a query: MODE_IS_EXCLUDE
    kLeft = 3,     // CHANGE_TO_INCLUDE_MODE, of no source
    kJoined = 4,   // CHANGE_TO_EXCLUDE_MODE, of no source
  };
  Kind kind = Kind::kListens;
  Ipv6Address group{};

  bool operator==(const ListenerRecord&) const = default;
};

// The link's routers and switches that speak version 2: RFC 3810 section 5.2.14.
inline constexpr Ipv6Address kAllListenerRouters = {
    {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};

// An IPv6 packet with a report of version 2, which fits the least MTU.
inline constexpr size_t kListenerRecordsMax = 60;
[[nodiscard]] constexpr size_t listener_report_bytes(size_t record_count) {
  return 40 + 8 + 8 + 20 * record_count;
}
// Writes it to the start of `to`. The source is a link-local address.
void write_listener_report(std::span<uint8_t> to, const Ipv6Address& source,
                           std::span<const ListenerRecord> records);

// The same for version 1: one group a packet, to the group itself, or to all routers when it was
// left.
inline constexpr size_t kListenerMessageBytes = 40 + 8 + 24;
[[nodiscard]] Ipv6Address listener_message_destination(const ListenerRecord& record);
void write_listener_message(std::span<uint8_t> to, const Ipv6Address& source,
                            const ListenerRecord& record);

}  // namespace roost::net
