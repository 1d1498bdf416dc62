// What a packet says to a connection table: the key of its connection and its place in it.
//
// Which packets have a connection: TCP, UDP, ICMP echo and any other protocol between two
// addresses; an ICMP error has the connection that it is about; other ICMP messages have none.
#pragma once

#include <optional>

#include "roost/conntrack/connection_table.h"
#include "roost/net/drop_cause.h"
#include "roost/net/echo.h"
#include "roost/net/flow_key.h"
#include "roost/net/icmp_error.h"
#include "roost/net/l4_ports.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/tcp_segment.h"

namespace roost::conntrack {

template <class Address>
struct TrackedPacket {
  net::FlowKey<Address> key{};               // of an error: of the packet that it embeds
  std::optional<net::TcpSegment> segment{};  // nothing: a later fragment, or an error
  std::optional<net::IcmpError> error{};     // if it is one
  bool is_echo_reply = false;                // it begins no connection
};

// Gives a packet of ICMP echo and a fragment their ports, where they have any, in `parsed`. What
// becomes of a fragment that has to wait or is dropped; nothing: the packet goes on. Of a packet
// that parsed as kOk, kFragment or kUnsupportedProtocol.
template <class Fragments>
[[nodiscard]] std::optional<net::LaneVerdict> complete_ports(Fragments& fragments,
                                                             const net::Packet& packet,
                                                             net::ParsedPacket& parsed) {
  if (!net::is_tcp_or_udp(parsed.protocol)) (void)net::read_echo_ports(packet, parsed);
  if (!parsed.fragment.is_one()) return {};
  return fragments.place(packet, parsed);
}

// Of such a packet with its ports complete; nothing: it is an ICMP message without a connection.
// The checksum of an ICMP error is verified: time grows with its length.
template <class Address>
[[nodiscard]] std::optional<TrackedPacket<Address>> read_tracked(const net::Packet& packet,
                                                                 const net::ParsedPacket& parsed) {
  using Key = net::FlowKey<Address>;
  TrackedPacket<Address> tracked;
  const bool is_icmp =
      parsed.protocol == (parsed.is_ipv6 ? net::kProtocolIcmp6 : net::kProtocolIcmp4);
  const net::EchoKind echo = is_icmp ? echo_kind_of(packet, parsed) : net::EchoKind::kNone;
  if (is_icmp && !parsed.fragment.is_later() && echo == net::EchoKind::kNone) {
    net::IcmpError error;
    if (parse_icmp_error(packet, parsed, error) != net::IcmpVerdict::kError) return {};
    tracked.key = net::embedded_key<Key>(packet, error);
    tracked.error = error;
    return tracked;
  }
  tracked.key = Key::from_packet(packet, parsed);
  tracked.is_echo_reply = echo == net::EchoKind::kReply;
  if (!parsed.fragment.is_later()) tracked.segment = net::read_tcp_segment(packet, parsed);
  return tracked;
}

// Whether a packet without a connection may begin one: it is no error, no reset, no echo reply.
template <class Address>
[[nodiscard]] bool can_begin(const TrackedPacket<Address>& packet) {
  const bool is_reset = packet.segment && packet.segment->has(net::tcp::kRst);
  return !packet.error && !packet.is_echo_reply && !is_reset;
}

// Brings a connection forward by a packet of it that is no error, or begins the next one of the
// same ends in its place. `segment`: nothing of a later fragment.
template <class Connections>
void follow(Connections& connections, Connection& connection, Sender sender,
            net::IpProtocol protocol, const std::optional<net::TcpSegment>& segment,
            const StateTimeouts& timeouts) {
  const bool is_anew =
      segment && sender == Sender::kClient && begins_anew(connection.state, segment->flags);
  if (is_anew) {
    connections.begin_anew(connection, protocol, *segment, timeouts);
  } else {
    connections.update(connection, sender, segment, timeouts);
  }
}
template <class Connections, class Address>
void follow(Connections& connections, const typename Connections::Match& match,
            const TrackedPacket<Address>& packet, const StateTimeouts& timeouts) {
  follow(connections, *match.connection, match.sender, packet.key.protocol, packet.segment,
         timeouts);
}

// Makes the connection of a packet that has none and can begin one.
template <class Connections, class Address>
[[nodiscard]] CreateOutcome begin(Connections& connections, const TrackedPacket<Address>& packet,
                                  uint16_t owner, const StateTimeouts& timeouts) {
  Connection begun;
  begun.owner = owner;
  begun.begin(packet.key.protocol, packet.segment.value_or(net::TcpSegment{}), false);
  return connections.create_connection(packet.key, begun, timeouts);
}

}  // namespace roost::conntrack
