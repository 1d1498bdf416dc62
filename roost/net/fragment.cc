// Cutting packets: see fragment.h.
#include "roost/net/fragment.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"

namespace roost::net {
namespace {

constexpr uint8_t kOptionCopied = 0x80;
constexpr size_t kHeaderBytesMax = 60;

uint32_t carried_bytes(const ParsedPacket& parsed, uint32_t header_bytes) {
  return parsed.ip_bytes - header_bytes;
}

// Of IPv6, up to the end of the fragment header.
uint32_t header_bytes_of(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.is_ipv6) return ipv6::kHeaderBytes + ipv6::kExtensionBytesMin;
  return 4U * (packet.data[parsed.ip_offset] & 15U);
}

struct Header {
  std::array<uint8_t, kHeaderBytesMax> bytes{};
  uint32_t byte_count = 0;
};

// The IP header of all pieces but the first: of the options only those that say so (RFC 791
// section 3.1), and the end of the list. parse() has seen that the options are well-formed.
Header later_header(const Packet& packet, const ParsedPacket& parsed) {
  const uint8_t* ip = packet.data + parsed.ip_offset;
  const uint32_t options_end = header_bytes_of(packet, parsed);
  Header header;
  std::memcpy(header.bytes.data(), ip, ipv4::kHeaderBytesMin);
  uint32_t to = ipv4::kHeaderBytesMin;
  uint32_t at = ipv4::kHeaderBytesMin;
  while (at < options_end && ip[at] != ipv4::kOptionEnd) {
    const uint32_t bytes = ip[at] == ipv4::kOptionNoOperation ? 1 : ip[at + 1];
    if ((ip[at] & kOptionCopied) != 0) {
      std::memcpy(&header.bytes[to], ip + at, bytes);
      to += bytes;
    }
    at += bytes;
  }
  header.byte_count = (to + 3) / 4 * 4;
  return header;
}

Header header_of(const Packet& packet, const ParsedPacket& parsed, uint32_t offset) {
  if (offset != 0 && !parsed.is_ipv6) return later_header(packet, parsed);
  Header header;
  header.byte_count = header_bytes_of(packet, parsed);
  std::memcpy(header.bytes.data(), packet.data + parsed.ip_offset, header.byte_count);
  return header;
}

// What a header says of its piece: of so many bytes, at `offset` of its datagram.
void say_piece_ipv4(Header& header, uint32_t bytes, uint32_t offset, bool is_last) {
  uint8_t* ip = header.bytes.data();
  ip[ipv4::kVersionAndLength] = static_cast<uint8_t>(0x40 | (header.byte_count / 4));
  store_be16(ip + ipv4::kTotalLength, static_cast<uint16_t>(header.byte_count + bytes));
  store_be16(ip + ipv4::kFragment,
             static_cast<uint16_t>(offset / 8 | (is_last ? 0U : ipv4::kMoreFragments)));
  store_be16(ip + ipv4::kChecksum, 0);
  store_be16(ip + ipv4::kChecksum, checksum_of(sum_words({ip, header.byte_count})));
}

void say_piece_ipv6(Header& header, uint32_t bytes, uint32_t offset, bool is_last) {
  uint8_t* ip = header.bytes.data();
  store_be16(ip + ipv6::kPayloadLength,
             static_cast<uint16_t>(header.byte_count - ipv6::kHeaderBytes + bytes));
  store_be16(ip + ipv6::kHeaderBytes + ipv6::kFragmentOffsetAndFlags,
             static_cast<uint16_t>(offset | (is_last ? 0U : ipv6::kMoreFragments)));
}

}  // namespace

bool may_be_cut(const Packet& packet, const ParsedPacket& parsed) {
  if (parsed.is_ipv6) return false;
  const uint8_t* ip = packet.data + parsed.ip_offset;
  return (load_be16(ip + ipv4::kFragment) & ipv4::kDontFragment) == 0 &&
         parsed.ip_offset + parsed.ip_bytes <= packet.contiguous_bytes;
}

Piece piece_at(const Packet& packet, const ParsedPacket& parsed, uint32_t offset, uint16_t mtu) {
  const uint32_t all = carried_bytes(parsed, header_bytes_of(packet, parsed));
  if (offset >= all) return {};
  const uint32_t header_bytes = header_of(packet, parsed, offset).byte_count;
  ROOST_ASSERT(mtu >= header_bytes + 8);
  const uint32_t most = mtu - header_bytes;
  const uint32_t left = all - offset;
  return {
      .offset = offset, .bytes = left <= most ? left : most / 8 * 8, .header_bytes = header_bytes};
}

size_t frame_bytes_of(const ParsedPacket& parsed, const Piece& piece) {
  return size_t{parsed.ip_offset} + piece.header_bytes + piece.bytes;
}

void write_piece(const Packet& packet, const ParsedPacket& parsed, const Piece& piece,
                 std::span<uint8_t> frame) {
  ROOST_ASSERT(frame.size() == frame_bytes_of(parsed, piece));
  const uint32_t packet_header_bytes = header_bytes_of(packet, parsed);
  Header header = header_of(packet, parsed, piece.offset);
  uint8_t* ip = header.bytes.data();
  const bool is_end = piece.offset + piece.bytes == carried_bytes(parsed, packet_header_bytes);
  const uint32_t offset = parsed.fragment.offset + piece.offset;
  const bool is_last = is_end && parsed.fragment.is_last;
  if (parsed.is_ipv6) {
    say_piece_ipv6(header, piece.bytes, offset, is_last);
  } else {
    say_piece_ipv4(header, piece.bytes, offset, is_last);
  }

  const uint8_t* carried = packet.data + parsed.ip_offset + packet_header_bytes;
  std::memcpy(frame.data(), packet.data, parsed.ip_offset);
  std::memcpy(frame.data() + parsed.ip_offset, ip, header.byte_count);
  std::memcpy(frame.data() + parsed.ip_offset + header.byte_count, carried + piece.offset,
              piece.bytes);
}

}  // namespace roost::net
