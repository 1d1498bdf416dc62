// Valid frames of every shape the parser accepts, from a seeded generator; and a checksum computed
// the slow way, one word and one end-around carry at a time, which shares nothing with
// roost/net/checksum.h.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "roost/net/parse.h"

namespace roost::net {

using Bytes = std::vector<uint8_t>;

// Ethernet, 0 to 2 tags, IPv4 with 0 to 40 bytes of options or IPv6 with 0 to 3 extension headers,
// TCP or UDP, 0 to 300 bytes of payload, sometimes padding. All checksums are right; UDP over IPv4
// sometimes has none.
[[nodiscard]] std::vector<uint8_t> random_frame(std::mt19937_64& random);

inline void append(Bytes& bytes, std::span<const uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

inline std::span<uint8_t> part(Bytes& bytes, size_t at, size_t count) {
  return std::span(bytes).subspan(at, count);
}

// RFC 1071, literally.
[[nodiscard]] uint16_t naive_checksum(std::span<const uint8_t> bytes);

// Computes the checksums of a parsed frame anew. UDP over IPv4 without a checksum stays so.
void recompute_checksums(std::span<uint8_t> frame, const ParsedPacket& parsed);

}  // namespace roost::net
