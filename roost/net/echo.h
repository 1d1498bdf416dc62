// ICMP echo (RFC 792) and ICMPv6 echo (RFC 4443 section 4): a request becomes its reply in place,
// and requests and replies as the two directions of a flow.
#pragma once

#include "roost/net/l4_ports.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Whether a packet that parsed as kUnsupportedProtocol is a whole echo request whose header can be
// touched: no fragment, of which the reply would be one too, without the others.
[[nodiscard]] bool is_echo_request(const Packet& packet, const ParsedPacket& parsed);

// What kind of echo message a packet is that parsed as kUnsupportedProtocol; a later fragment and a
// message whose header is not there are none.
[[nodiscard]] EchoKind echo_kind_of(const Packet& packet, const ParsedPacket& parsed);

// Gives a packet that parsed as kUnsupportedProtocol, or the first fragment of one, the ports of
// its flow (l4_ports.h), if it is an echo request or reply whose header is there. False, and
// nothing changed, if it is none.
[[nodiscard]] bool read_echo_ports(const Packet& packet, ParsedPacket& parsed);

// Makes the reply: type, addresses exchanged, MACs exchanged, time to live 64. Checksums are
// updated for what changed, so that a damaged request becomes a damaged reply. Payload and options
// stay.
void reply_to_echo(const Packet& packet, ParsedPacket& parsed);

}  // namespace roost::net
