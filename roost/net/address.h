// MAC and IP addresses as values. The bytes are those on the wire, in the same order.
//
// Text forms are strict: what `parse` takes is one address and nothing else, and `format` writes
// the canonical form (RFC 5952 for IPv6), which parses back to the same value. Both allocate: they
// are for configuration and reports, not for the datapath.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "roost/base/assert.h"
#include "roost/base/result.h"

namespace roost::net {

// Whether bytes are equal, by words: GCC compares arrays of bytes by a call of memcmp(), several
// times a packet.
template <size_t kBytes>
[[nodiscard]] constexpr bool are_same(const std::array<uint8_t, kBytes>& bytes,
                                      const std::array<uint8_t, kBytes>& others) {
  using Word = std::conditional_t<kBytes % 8 == 0, uint64_t,
                                  std::conditional_t<kBytes % 4 == 0, uint32_t, uint16_t>>;
  using Words = std::array<Word, kBytes / sizeof(Word)>;
  const auto words = std::bit_cast<Words>(bytes);
  const auto other_words = std::bit_cast<Words>(others);
  Word differences = 0;
  for (size_t i = 0; i < words.size(); ++i)
    differences = static_cast<Word>(differences | (words[i] ^ other_words[i]));
  return differences == 0;
}

struct MacAddress {
  std::array<uint8_t, 6> bytes{};

  // Six pairs of hexadecimal digits, separated by colons.
  static Result<MacAddress> parse(std::string_view text);
  [[nodiscard]] std::string format() const;

  // Group bit of the first byte: multicast, broadcast included.
  [[nodiscard]] constexpr bool is_multicast() const { return (bytes[0] & 1) != 0; }

  // One station's: neither a group's nor zero.
  [[nodiscard]] constexpr bool is_station() const {
    return !is_multicast() && *this != MacAddress{};
  }

  auto operator<=>(const MacAddress&) const = default;
  constexpr bool operator==(const MacAddress& other) const { return are_same(bytes, other.bytes); }
};

struct Ipv4Address {
  std::array<uint8_t, 4> bytes{};

  // Dotted quad; four decimal numbers without leading zeros.
  static Result<Ipv4Address> parse(std::string_view text);
  [[nodiscard]] std::string format() const;

  auto operator<=>(const Ipv4Address&) const = default;
  constexpr bool operator==(const Ipv4Address& other) const { return are_same(bytes, other.bytes); }
};

struct Ipv6Address {
  std::array<uint8_t, 16> bytes{};

  // Any of the text forms of RFC 4291, without a zone.
  static Result<Ipv6Address> parse(std::string_view text);
  [[nodiscard]] std::string format() const;

  [[nodiscard]] constexpr bool is_multicast() const { return bytes[0] == 0xff; }

  // fe80::/10: of one link only.
  [[nodiscard]] constexpr bool is_link_local() const {
    return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  }

  auto operator<=>(const Ipv6Address&) const = default;
  constexpr bool operator==(const Ipv6Address& other) const { return are_same(bytes, other.bytes); }
};

inline constexpr MacAddress kBroadcastMac = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static_assert(sizeof(MacAddress) == 6, "copied from and to the wire as it is");
static_assert(sizeof(Ipv4Address) == 4, "copied from and to the wire as it is");
static_assert(sizeof(Ipv6Address) == 16, "copied from and to the wire as it is");

// An address of either family. Addresses of different families never compare equal.
class IpAddress {
 public:
  constexpr IpAddress() = default;  // 0.0.0.0
  constexpr IpAddress(Ipv4Address address) {
    for (size_t i = 0; i < address.bytes.size(); ++i) bytes_[i] = address.bytes[i];
  }
  constexpr IpAddress(Ipv6Address address) : bytes_(address.bytes), is_ipv6_(true) {}

  // IPv6 if the text has a colon, else IPv4.
  static Result<IpAddress> parse(std::string_view text);
  [[nodiscard]] std::string format() const;

  [[nodiscard]] constexpr bool is_ipv6() const { return is_ipv6_; }
  [[nodiscard]] constexpr uint8_t bit_count() const { return is_ipv6_ ? 128 : 32; }

  // The address must be of that family.
  [[nodiscard]] constexpr Ipv4Address ipv4() const {
    ROOST_ASSERT(!is_ipv6_);
    return {{bytes_[0], bytes_[1], bytes_[2], bytes_[3]}};
  }
  [[nodiscard]] constexpr Ipv6Address ipv6() const {
    ROOST_ASSERT(is_ipv6_);
    return {bytes_};
  }

  // The same for code that is written for both families: nothing if it is of the other one.
  template <class Address>
  [[nodiscard]] constexpr std::optional<Address> as() const {
    if constexpr (std::is_same_v<Address, Ipv6Address>) {
      return is_ipv6_ ? std::optional(ipv6()) : std::nullopt;
    } else {
      return is_ipv6_ ? std::nullopt : std::optional(ipv4());
    }
  }

  // The same where it must be of that family.
  template <class Address>
  [[nodiscard]] constexpr Address to() const {
    if constexpr (std::is_same_v<Address, Ipv6Address>) {
      return ipv6();
    } else {
      return ipv4();
    }
  }

  // True when the first `bit_count` bits of both are equal and so is their family.
  [[nodiscard]] bool shares_prefix(const IpAddress& other, uint8_t prefix_bits) const;

  auto operator<=>(const IpAddress&) const = default;
  constexpr bool operator==(const IpAddress& other) const {
    return are_same(bytes_, other.bytes_) && is_ipv6_ == other.is_ipv6_;
  }

 private:
  std::array<uint8_t, 16> bytes_{};  // an IPv4 address in the first four, zero after them
  bool is_ipv6_ = false;
};

// An address and how many of its leading bits name its network. The host bits are kept, so that it
// also describes a port's own address ("192.0.2.1/24").
struct IpPrefix {
  IpAddress address{};
  uint8_t prefix_bits = 0;

  // "address/bits".
  static Result<IpPrefix> parse(std::string_view text);
  // The same, or an address alone, with all of its bits.
  static Result<IpPrefix> parse_network(std::string_view text);
  [[nodiscard]] std::string format() const;

  [[nodiscard]] bool contains(const IpAddress& other) const {
    return address.shares_prefix(other, prefix_bits);
  }

  auto operator<=>(const IpPrefix&) const = default;
};

// An IPv4 address where one of IPv6 is expected: ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). No
// packet carries one, and the words of it sum up to what those of the IPv4 address do, as checksums
// see it.
[[nodiscard]] constexpr Ipv6Address ipv4_mapped(const Ipv4Address& address) {
  Ipv6Address mapped;
  mapped.bytes[10] = 0xff;
  mapped.bytes[11] = 0xff;
  for (size_t i = 0; i < address.bytes.size(); ++i) mapped.bytes[12 + i] = address.bytes[i];
  return mapped;
}
[[nodiscard]] constexpr bool is_ipv4_mapped(const Ipv6Address& address) {
  for (size_t i = 0; i < 10; ++i) {
    if (address.bytes[i] != 0) return false;
  }
  return address.bytes[10] == 0xff && address.bytes[11] == 0xff;
}
// What ipv4_mapped() was given.
[[nodiscard]] constexpr Ipv4Address ipv4_of(const Ipv6Address& mapped) {
  return {{mapped.bytes[12], mapped.bytes[13], mapped.bytes[14], mapped.bytes[15]}};
}

// An address as a key of this family has it; IPv4 as a mapped one, if the family is IPv6.
template <class Address>
[[nodiscard]] constexpr Address key_address(const IpAddress& address) {
  if constexpr (std::is_same_v<Address, Ipv6Address>) {
    return address.is_ipv6() ? address.ipv6() : ipv4_mapped(address.ipv4());
  } else {
    return address.ipv4();
  }
}
// The address that a key's stands for.
[[nodiscard]] constexpr IpAddress address_of_key(const Ipv4Address& address) { return address; }
[[nodiscard]] constexpr IpAddress address_of_key(const Ipv6Address& address) {
  return is_ipv4_mapped(address) ? IpAddress(ipv4_of(address)) : IpAddress(address);
}

// ADDRESS:PORT; an IPv6 address is in brackets.
[[nodiscard]] std::string endpoint_text(const IpAddress& address, uint16_t port);

}  // namespace roost::net
