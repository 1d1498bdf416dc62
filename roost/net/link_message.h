// ICMPv6 that does not leave its link: neighbour discovery (RFC 4861) and multicast listener
// discovery (RFC 2710, RFC 3810).
#pragma once

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Whether a packet that parsed as kUnsupportedProtocol says that it is such a message, and no
// router has forwarded it. Whether it is well formed is not looked at.
[[nodiscard]] bool is_link_message(const Packet& packet, const ParsedPacket& parsed);

}  // namespace roost::net
