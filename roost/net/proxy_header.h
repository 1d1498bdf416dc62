// The header of the PROXY protocol, version 2, that tells a server its client's address: put in
// front of a TCP segment's data.
//
//   | signature 12 | version, command 1 | family 1 | bytes that follow 2 | source, destination,
//   their ports |
//
// (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt, section 2.2), without TLVs.
#pragma once

#include <cstddef>

#include "roost/net/address.h"
#include "roost/net/flow_key.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// 28 for IPv4, 52 for IPv6.
template <class Address>
inline constexpr size_t kProxyHeaderBytes = 16 + 2 * sizeof(Address) + 4;

// Puts the header between the TCP header and its data. Of a whole packet that parsed as TCP, whose
// header is in the first segment: what is before the data moves into the headroom, lengths and
// checksums are updated, and the urgent pointer if there is one. `packet` and `parsed` stay true.
// The packet has the headroom and does not become longer than an IP packet can be.
void insert_proxy_header(Packet& packet, ParsedPacket& parsed, const Endpoint4& source,
                         const Endpoint4& destination);
void insert_proxy_header(Packet& packet, ParsedPacket& parsed, const Endpoint6& source,
                         const Endpoint6& destination);

}  // namespace roost::net
