// Changes in place of a TCP header, options included. The checksum is updated for what changed
// when all changes are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// Of a packet that parsed as TCP, or as the first fragment of such a datagram.
class TcpEdit {
 public:
  // Whether the header with its options is in the first segment, as it must be.
  [[nodiscard]] static bool is_possible(const Packet& packet, const ParsedPacket& parsed) {
    return parsed.l4_offset + header_bytes_of(packet, parsed) <= packet.contiguous_bytes;
  }

  TcpEdit(const Packet& packet, const ParsedPacket& parsed)
      : header_(packet.data + parsed.l4_offset, header_bytes_of(packet, parsed)) {
    ROOST_DEBUG_ASSERT(is_possible(packet, parsed) && !parsed.fragment.is_later());
  }

  [[nodiscard]] uint16_t get16(size_t at) const { return load_be16(&header_[at]); }
  [[nodiscard]] uint32_t get32(size_t at) const { return load_be32(&header_[at]); }
  void set16(size_t at, uint16_t value) {
    std::array<uint8_t, 2> bytes;
    store_be16(bytes.data(), value);
    set(at, bytes);
  }
  void set32(size_t at, uint32_t value) {
    std::array<uint8_t, 4> bytes;
    store_be32(bytes.data(), value);
    set(at, bytes);
  }
  // Bytes at any place of the header.
  void set(size_t at, std::span<const uint8_t> bytes);

  // Calls `visit(kind, at, bytes)` for each option that has data: where they are, and how many.
  // Ends before the first option that is not whole. An option may be anywhere, at odd places too.
  template <class Visit>
  void for_each_option(Visit visit) {
    for (size_t at = tcp::kHeaderBytesMin; at + 2 <= header_.size();) {
      const uint8_t kind = header_[at];
      if (kind == tcp::kOptionEnd) return;
      if (kind == tcp::kOptionPadding) {
        ++at;
        continue;
      }
      const size_t option_bytes = header_[at + 1];
      if (option_bytes < 2 || at + option_bytes > header_.size()) return;
      visit(kind, at + 2, option_bytes - 2);
      at += option_bytes;
    }
  }
  // Makes all options of this kind padding.
  void remove_options(uint8_t kind);

  // The checksum becomes right for what was changed, if it was right before.
  void finish() {
    store_be16(&header_[tcp::kChecksum], change_.apply(load_be16(&header_[tcp::kChecksum])));
  }

 private:
  [[nodiscard]] static size_t header_bytes_of(const Packet& packet, const ParsedPacket& parsed) {
    return size_t{4} * (packet.data[parsed.l4_offset + tcp::kDataOffset] >> 4);
  }

  std::span<uint8_t> header_;
  ChecksumChange change_{};
};

}  // namespace roost::net
