// Cutting an IPv4 packet that is longer than the way out allows and may be cut (RFC 791
// section 3.2, RFC 1812 section 4.2.2.7), as it is or after it has become one of IPv6 with a
// fragment header right behind its first one (ip_translation.h).
#pragma once

#include <cstdint>
#include <span>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Whether it may: it is IPv4, without "don't fragment", and all of it is in the first segment.
// `parsed` is of a packet that parsed as kOk or kFragment.
[[nodiscard]] bool may_be_cut(const Packet& packet, const ParsedPacket& parsed);

// One piece of a packet that is cut.
struct Piece {
  uint32_t offset = 0;        // in what the packet's IP header carries
  uint32_t bytes = 0;         // of that; 0 when there is no further piece
  uint32_t header_bytes = 0;  // of the piece's IP header: options that need not be copied are not
};

// The piece at `offset`, for packets of at most `mtu` bytes, which is 68 or more. The next piece's
// offset is this one's end.
[[nodiscard]] Piece piece_at(const Packet& packet, const ParsedPacket& parsed, uint32_t offset,
                             uint16_t mtu);

// Bytes of the frame that carries a piece.
[[nodiscard]] size_t frame_bytes_of(const ParsedPacket& parsed, const Piece& piece);

// Writes that frame, which has exactly these many bytes. Where the packet is a fragment itself, the
// pieces are fragments of the same datagram.
void write_piece(const Packet& packet, const ParsedPacket& parsed, const Piece& piece,
                 std::span<uint8_t> frame);

}  // namespace roost::net
