// ICMP errors of one IP version become those of the other, with the packet that they embed: RFC
// 7915 sections 4.2, 4.3, 5.2 and 5.3.
//
// Addresses are IPv4-mapped ones where the message is of IPv6, in the embedded packet too, as in
// ip_translation.h. What such an error says is written down in one table a direction; a type or
// code without a counterpart has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "roost/net/icmp_error.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// How many bytes longer the frame of an error is in the other version, of which parse_icmp_error()
// said kError; nothing when it has no counterpart there, or is about ICMP echo, which is not
// translated. An error of IPv6 embeds no more than fits
// 1,280 bytes, and extensions behind the embedded packet (RFC 4884) are left out: what is too much
// stays in the frame, as padding behind the IP packet.
[[nodiscard]] std::optional<ptrdiff_t> error_translation_growth(const Packet& packet,
                                                                const IcmpError& error);

// Of an error that has a growth, and so much headroom. All checksums of the outer packet are made
// anew; those of the embedded one are as they were. `parsed` and `error` are kept true.
void translate_error_to_ipv6(Packet& packet, ParsedPacket& parsed, IcmpError& error);
void translate_error_to_ipv4(Packet& packet, ParsedPacket& parsed, IcmpError& error,
                             uint16_t identification);

}  // namespace roost::net
