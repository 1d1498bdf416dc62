// Answers to whoever asks for the MAC of a client or a backend: ARP and neighbour discovery, for
// every address of a side's prefixes.
#pragma once

#include "apps/trafficgen/config/config.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::trafficgen {

// Writes the answer to this frame into the outbox; false if it asks for no address of this side, or
// the outbox has no room. `parsed` is what net::parse() found, whatever its verdict.
[[nodiscard]] bool answer_neighbour(const net::Packet& packet, const net::ParsedPacket& parsed,
                                    const SideConfig& side, net::Outbox& outbox);

}  // namespace roost::trafficgen
