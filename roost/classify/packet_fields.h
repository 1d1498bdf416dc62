// What of a packet rules can look at: its fields, as a fixed struct of words. A mask and a rule's
// value have the same shape, so that masking, hashing and comparing are loops over words.
//
//   word   63                                                            0
//   0      | eth_type 16 | vlan 16 | in_port 16 | ct_state 8 | ip_frag 8 |
//   1      | eth_dst 48                                         | zero 16 |
//   2      | eth_src 48                                         | zero 16 |
//   3      | ipv4_src 32                  | ipv4_dst 32                  |
//   4, 5   | ipv6_src 128, the first half first                          |
//   6, 7   | ipv6_dst 128                                                |
//   8      | tp_src 16 | tp_dst 16 | ip_proto 8 | ip_dscp 8 | tcp_flags 16 |
//   9      | reg0 32                      | reg1 32                      |
//   10     | reg2 32                      | reg3 32                      |
//
// Fields are numbers, most significant bit first, so a prefix is a run of ones from a field's top.
// What a packet does not have is zero: its IPv6 addresses if it is IPv4, ports of a later fragment.
// So a rule about such a field also names the eth_type or ip_proto that has it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::classify {

inline constexpr size_t kFieldWords = 11;

struct PacketFields {
  std::array<uint64_t, kFieldWords> words{};

  auto operator<=>(const PacketFields&) const = default;
  // Without a call of memcmp(), which GCC makes of comparing arrays.
  [[nodiscard]] friend constexpr bool operator==(const PacketFields& a, const PacketFields& b) {
    uint64_t difference = 0;
    for (size_t word = 0; word < kFieldWords; ++word) difference |= a.words[word] ^ b.words[word];
    return difference == 0;
  }

  // Word by word, as sets of bits.
  [[nodiscard]] friend constexpr PacketFields operator&(PacketFields a, const PacketFields& b) {
    for (size_t word = 0; word < kFieldWords; ++word) a.words[word] &= b.words[word];
    return a;
  }
  [[nodiscard]] friend constexpr PacketFields operator|(PacketFields a, const PacketFields& b) {
    for (size_t word = 0; word < kFieldWords; ++word) a.words[word] |= b.words[word];
    return a;
  }
};

// Whether a packet and a value agree in the bits of a mask.
[[nodiscard]] constexpr bool agree(const PacketFields& a, const PacketFields& b,
                                   const PacketFields& mask) {
  uint64_t difference = 0;
  for (size_t word = 0; word < kFieldWords; ++word)
    difference |= (a.words[word] ^ b.words[word]) & mask.words[word];
  return difference == 0;
}

// The words that a mask touches, most often three or four of the eleven: to compare by those alone.
class MaskWords {
 public:
  constexpr explicit MaskWords(const PacketFields& mask) {
    for (size_t word = 0; word < kFieldWords; ++word) {
      if (mask.words[word] != 0) parts_[count_++] = {mask.words[word], word};
    }
  }

  [[nodiscard]] constexpr bool agree(const PacketFields& a, const PacketFields& b) const {
    uint64_t difference = 0;
    for (size_t i = 0; i < count_; ++i) {
      const auto& [mask, word] = parts_[i];
      difference |= (a.words[word] ^ b.words[word]) & mask;
    }
    return difference == 0;
  }

 private:
  struct Part {
    uint64_t mask = 0;
    size_t word = 0;
  };
  std::array<Part, kFieldWords> parts_{};
  size_t count_ = 0;
};

// The names are OpenFlow's, as far as it has them. An ICMP type and code stand where ports stand.
enum class Field : uint8_t {
  kInPort,
  kEthDst,
  kEthSrc,
  kEthType,
  kVlan,
  kIpv4Src,
  kIpv4Dst,
  kIpv6Src,
  kIpv6Dst,
  kIpProto,
  kIpDscp,
  kIpFrag,
  kTpSrc,
  kTpDst,
  kTcpFlags,
  kIcmpType,
  kIcmpCode,
  kCtState,
  kReg0,
  kReg1,
  kReg2,
  kReg3,
};

// Where a field stands: `bits` bits of `word` from `shift` up; 128 bits are two whole words.
struct FieldPlace {
  Field field;
  std::string_view name;
  uint8_t word;
  uint8_t shift;
  uint8_t bits;
};

// The only list of fields, in the order of Field.
inline constexpr std::array kFields = {
    FieldPlace{Field::kInPort, "in_port", 0, 16, 16},
    FieldPlace{Field::kEthDst, "eth_dst", 1, 16, 48},
    FieldPlace{Field::kEthSrc, "eth_src", 2, 16, 48},
    FieldPlace{Field::kEthType, "eth_type", 0, 48, 16},
    FieldPlace{Field::kVlan, "vlan", 0, 32, 16},
    FieldPlace{Field::kIpv4Src, "ipv4_src", 3, 32, 32},
    FieldPlace{Field::kIpv4Dst, "ipv4_dst", 3, 0, 32},
    FieldPlace{Field::kIpv6Src, "ipv6_src", 4, 0, 128},
    FieldPlace{Field::kIpv6Dst, "ipv6_dst", 6, 0, 128},
    FieldPlace{Field::kIpProto, "ip_proto", 8, 24, 8},
    FieldPlace{Field::kIpDscp, "ip_dscp", 8, 16, 6},
    FieldPlace{Field::kIpFrag, "ip_frag", 0, 0, 2},
    FieldPlace{Field::kTpSrc, "tp_src", 8, 48, 16},
    FieldPlace{Field::kTpDst, "tp_dst", 8, 32, 16},
    FieldPlace{Field::kTcpFlags, "tcp_flags", 8, 0, 12},
    FieldPlace{Field::kIcmpType, "icmp_type", 8, 48, 8},
    FieldPlace{Field::kIcmpCode, "icmp_code", 8, 32, 8},
    FieldPlace{Field::kCtState, "ct_state", 0, 8, 8},
    FieldPlace{Field::kReg0, "reg0", 9, 32, 32},
    FieldPlace{Field::kReg1, "reg1", 9, 0, 32},
    FieldPlace{Field::kReg2, "reg2", 10, 32, 32},
    FieldPlace{Field::kReg3, "reg3", 10, 0, 32},
};

[[nodiscard]] constexpr const FieldPlace& place_of(Field field) {
  return kFields[static_cast<size_t>(field)];
}

namespace detail {
constexpr uint64_t ones(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}
}  // namespace detail

// A field's number; `high` is zero but for fields of 128 bits.
struct FieldNumber {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const FieldNumber&) const = default;
};

// All ones in the field's bits.
[[nodiscard]] FieldNumber all_ones(Field field);
// Ones in the first `prefix_bits` bits, of at most the field's.
[[nodiscard]] FieldNumber prefix_mask(Field field, unsigned prefix_bits);

// Inline: where the field is a constant, each is an access to a word.
[[nodiscard]] constexpr FieldNumber get(const PacketFields& fields, Field field) {
  const FieldPlace& place = place_of(field);
  if (place.bits == 128) return {fields.words[place.word], fields.words[place.word + size_t{1}]};
  return {.low = (fields.words[place.word] >> place.shift) & detail::ones(place.bits)};
}
// Bits of the number beyond the field's are dropped.
constexpr void set(PacketFields& fields, Field field, FieldNumber number) {
  const FieldPlace& place = place_of(field);
  if (place.bits == 128) {
    fields.words[place.word] = number.high;
    fields.words[place.word + size_t{1}] = number.low;
    return;
  }
  const uint64_t mask = detail::ones(place.bits);
  uint64_t& word = fields.words[place.word];
  word = (word & ~(mask << place.shift)) | (number.low & mask) << place.shift;
}
constexpr void set(PacketFields& fields, Field field, uint64_t number) {
  set(fields, field, FieldNumber{.low = number});
}

// In field `vlan`: the outer tag's identifier and priority as they stand in it, and this bit where
// drop eligibility stands there: that there is a tag.
inline constexpr uint16_t kVlanPresent = 0x1000;

// In field `ip_frag`: a first fragment is kFragmentAny, a later one both.
inline constexpr uint8_t kFragmentAny = 1;
inline constexpr uint8_t kFragmentLater = 2;

// Whether a packet that parsed so has fields: others are broken off or cannot be, and are no
// rule's.
[[nodiscard]] constexpr bool has_fields(net::ParseVerdict verdict) {
  using net::ParseVerdict;
  return verdict == ParseVerdict::kOk || verdict == ParseVerdict::kFragment ||
         verdict == ParseVerdict::kUnsupportedProtocol || verdict == ParseVerdict::kNotIp;
}

// Writes the fields of a packet that parsed as one of these; `in_port` is the number that rules
// have for its port. What its bytes do not say is zero: the connection's state, to whose bits this
// room gives no meaning, and the registers. Reads what parse() has seen, and of an ICMP message two
// bytes if they are there. Constant time.
void read_fields(const net::Packet& packet, const net::ParsedPacket& parsed,
                 net::ParseVerdict verdict, uint16_t in_port, PacketFields& fields);

}  // namespace roost::classify
