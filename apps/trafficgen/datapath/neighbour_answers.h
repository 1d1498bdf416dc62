// Answers to whoever asks for the MAC of a client or a backend: ARP and neighbour discovery, for
// every address of a side's prefixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "apps/trafficgen/config/config.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::trafficgen {

// Writes the frame that answers this one, at most 128 bytes; returns its length, 0 if it asks for
// no address of this side. `parsed` is what net::parse() found, whatever its verdict.
[[nodiscard]] size_t answer_neighbour(const net::Packet& packet, const net::ParsedPacket& parsed,
                                      const SideConfig& side, std::span<uint8_t> answer);

}  // namespace roost::trafficgen
