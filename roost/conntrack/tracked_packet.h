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
  bool is_error = false;                     // of ICMP, about a packet of the connection
  bool is_echo_reply = false;                // it begins no connection
};

// Gives a packet of ICMP echo and a fragment their ports, where they have any, in `parsed`. Whether
// the packet goes on; else it is a fragment that has to wait or is dropped, as `verdict` says. Of a
// packet that parsed as kOk, kFragment or kUnsupportedProtocol.
template <class Fragments>
[[nodiscard]] bool complete_ports(Fragments& fragments, const net::Packet& packet,
                                  net::ParsedPacket& parsed, net::LaneVerdict& verdict) {
  if (!net::is_tcp_or_udp(parsed.protocol)) (void)net::read_echo_ports(packet, parsed);
  if (!parsed.fragment.is_one()) return true;
  const auto decided = fragments.place(packet, parsed);
  if (decided) verdict = *decided;
  return !decided;
}

// Reads such a packet with its ports complete; false: it is an ICMP message without a connection.
// The checksum of an ICMP error is verified: time grows with its length. What is read is the
// caller's, so that nothing is copied that was just written, for which a processor waits.
template <class Address>
[[nodiscard]] bool read_tracked(const net::Packet& packet, const net::ParsedPacket& parsed,
                                TrackedPacket<Address>& tracked) {
  using Key = net::FlowKey<Address>;
  tracked.segment.reset();
  tracked.is_error = false;
  tracked.is_echo_reply = false;
  const bool is_icmp =
      parsed.protocol == (parsed.is_ipv6 ? net::kProtocolIcmp6 : net::kProtocolIcmp4);
  if (is_icmp && !parsed.fragment.is_later()) {
    const net::EchoKind echo = echo_kind_of(packet, parsed);
    if (echo == net::EchoKind::kNone) {
      net::IcmpError error;
      if (parse_icmp_error(packet, parsed, error) != net::IcmpVerdict::kError) return false;
      tracked.key = net::embedded_key<Key>(packet, error);
      tracked.is_error = true;
      return true;
    }
    tracked.is_echo_reply = echo == net::EchoKind::kReply;
  }
  tracked.key = Key::from_packet(packet, parsed);
  if (!parsed.fragment.is_later()) tracked.segment = net::read_tcp_segment(packet, parsed);
  return true;
}

// Whether a packet without a connection may begin one: it is no error, no reset, no echo reply.
template <class Address>
[[nodiscard]] bool can_begin(const TrackedPacket<Address>& packet) {
  const bool is_reset = packet.segment && packet.segment->has(net::tcp::kRst);
  return !packet.is_error && !packet.is_echo_reply && !is_reset;
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
