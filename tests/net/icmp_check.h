// What must hold of ICMP errors, for every frame whatsoever. Used with random errors by the tests
// and with found frames by the fuzz target; a violation ends the process.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "roost/net/parse.h"

namespace roost::net {

// How check_icmp presents and translates a frame; any values are allowed.
struct IcmpChoices {
  uint8_t cut_bytes = 0;  // this many last bytes are in another segment
  bool rewrites_source = false;
  bool is_too_big = false;  // the answer to it, else time exceeded
};

struct IcmpSeen {
  bool is_error = false;     // it was an error about a packet with ports, and was translated
  bool is_answered = false;  // it was answered by an error
};

// Translates the frame, if it is an ICMP error about TCP, UDP or echo, in memory of its exact size,
// and compares every byte with a model that computes each checksum from scratch; and answers it, if
// it is a packet that may be answered, and takes the answer apart.
IcmpSeen check_icmp(std::span<const uint8_t> frame, const IcmpChoices& choices);

// An error about a random packet of TCP, UDP or ICMP echo, cut somewhere behind the first 8 bytes
// of that. Its checksums are right.
[[nodiscard]] std::vector<uint8_t> random_icmp_error(std::mt19937_64& random);

// Makes the checksum of an ICMP message anew; `parsed` is where it is.
void fix_icmp_checksum(std::vector<uint8_t>& frame, const ParsedPacket& parsed);

}  // namespace roost::net
