// The internet checksum: the complement of the ones' complement sum of 16-bit words (RFC 1071), and
// its update when some of the words change (RFC 1624).
//
// Ones' complement addition is addition modulo 65,535 with two names for zero, 0x0000 and 0xffff. A
// sum of words that are not all zero folds to 0x0001...0xffff, so a computed checksum is
// 0x0000...0xfffe. UDP keeps 0x0000 for "no checksum" and sends a computed 0x0000 as 0xffff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/net/address.h"
#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::net {

// Folds a sum of words to 16 bits by adding the carries back in.
[[nodiscard]] constexpr uint16_t fold_sum(uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// The sum of big-endian 16-bit words, not folded; an odd last byte is the high half of a word. Sums
// of parts can be added if all but the last have an even length.
[[nodiscard]] constexpr uint64_t sum_words(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  size_t at = 0;
  // 2^16 is 1 modulo 65,535, so a 32-bit word counts as the sum of its halves.
  for (; at + 4 <= bytes.size(); at += 4) sum += load_be32(&bytes[at]);
  if (at + 2 <= bytes.size()) {
    sum += load_be16(&bytes[at]);
    at += 2;
  }
  if (at < bytes.size()) sum += uint64_t{bytes[at]} << 8;
  return sum;
}

// The checksum of a sum. Over bytes that contain their own checksum it is 0 when that checksum is
// right.
[[nodiscard]] constexpr uint16_t checksum_of(uint64_t sum) {
  return static_cast<uint16_t>(~fold_sum(sum));
}

// What UDP sends for a computed checksum.
[[nodiscard]] constexpr uint16_t udp_checksum_of(uint64_t sum) {
  const uint16_t checksum = checksum_of(sum);
  return checksum == 0 ? uint16_t{0xffff} : checksum;
}

// The sum of the pseudo header before TCP or UDP: RFC 9293 section 3.1 and RFC 8200 section 8.1.
[[nodiscard]] constexpr uint64_t pseudo_header_sum(std::span<const uint8_t> source,
                                                   std::span<const uint8_t> destination,
                                                   IpProtocol protocol, uint32_t l4_bytes) {
  return sum_words(source) + sum_words(destination) + static_cast<uint8_t>(protocol) + l4_bytes;
}

// Changes of 16-bit words, to be applied to every checksum that covers them. RFC 1624 equation 3:
// HC' = ~(~HC + ~m + m'). Each changed field must start at an even offset of what is summed.
class ChecksumChange {
 public:
  constexpr void change16(uint16_t before, uint16_t after) {
    sum_ += static_cast<uint16_t>(~before);
    sum_ += after;
  }
  constexpr void change32(uint32_t before, uint32_t after) {
    sum_ += static_cast<uint32_t>(~before);
    sum_ += after;
  }
  constexpr void change(const Ipv4Address& before, const Ipv4Address& after) {
    change32(load_be32(before.bytes.data()), load_be32(after.bytes.data()));
  }
  constexpr void change(const Ipv6Address& before, const Ipv6Address& after) {
    for (size_t at = 0; at < before.bytes.size(); at += 4) {
      change32(load_be32(&before.bytes[at]), load_be32(&after.bytes[at]));
    }
  }

  constexpr ChecksumChange& operator+=(const ChecksumChange& other) {
    sum_ += other.sum_;
    return *this;
  }
  friend constexpr ChecksumChange operator+(ChecksumChange one, const ChecksumChange& other) {
    return one += other;
  }

  // A right checksum becomes the right one of the changed words; a wrong one stays wrong by as
  // much.
  [[nodiscard]] constexpr uint16_t apply(uint16_t checksum) const {
    return checksum_of(sum_ + static_cast<uint16_t>(~checksum));
  }

  // The same for UDP's field: 0 is no checksum and stays so; a result of 0 is sent as 0xffff.
  [[nodiscard]] constexpr uint16_t apply_udp(uint16_t checksum) const {
    if (checksum == 0) return 0;
    return udp_checksum_of(sum_ + static_cast<uint16_t>(~checksum));
  }

 private:
  uint64_t sum_ = 0;
};

}  // namespace roost::net
