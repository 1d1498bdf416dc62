// What reading and writing of flows share: the names of things.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "roost/classify/packet_fields.h"
#include "roost/net/headers.h"

namespace roost::openflow {

inline constexpr uint16_t kEthIpv4 = net::ethernet::kIpv4;
inline constexpr uint16_t kEthIpv6 = net::ethernet::kIpv6;
inline constexpr auto kIcmp = static_cast<uint8_t>(net::kProtocolIcmp4);
inline constexpr auto kTcp = static_cast<uint8_t>(net::IpProtocol::kTcp);
inline constexpr auto kUdp = static_cast<uint8_t>(net::IpProtocol::kUdp);
inline constexpr auto kIcmpv6 = static_cast<uint8_t>(net::kProtocolIcmp6);
inline constexpr uint8_t kSctp = 132;

[[nodiscard]] constexpr bool has_ports(uint8_t ip_proto) {
  return ip_proto == kTcp || ip_proto == kUdp || ip_proto == kSctp;
}
[[nodiscard]] constexpr bool is_icmp(uint16_t eth_type, uint8_t ip_proto) {
  return (eth_type == kEthIpv4 && ip_proto == kIcmp) ||
         (eth_type == kEthIpv6 && ip_proto == kIcmpv6);
}

[[nodiscard]] constexpr bool is_register(classify::Field field) {
  return field >= classify::Field::kReg0 && field <= classify::Field::kReg3;
}

// In `vlan`, beside kVlanPresent.
inline constexpr uint16_t kVlanIdentifier = net::vlan::kIdentifierMask;
inline constexpr uint16_t kVlanPriority = 0xe000;
inline constexpr unsigned kVlanPriorityShift = 13;

// Words that stand for an EtherType and a protocol; 0: any. The first with both is the one written.
struct ProtocolWord {
  std::string_view word;
  uint16_t eth_type;
  uint8_t ip_proto;
};
inline constexpr std::array kProtocolWords = {
    ProtocolWord{"ip", kEthIpv4, 0},
    ProtocolWord{"ipv6", kEthIpv6, 0},
    ProtocolWord{"icmp", kEthIpv4, kIcmp},
    ProtocolWord{"icmp6", kEthIpv6, kIcmpv6},
    ProtocolWord{"tcp", kEthIpv4, kTcp},
    ProtocolWord{"tcp6", kEthIpv6, kTcp},
    ProtocolWord{"udp", kEthIpv4, kUdp},
    ProtocolWord{"udp6", kEthIpv6, kUdp},
    ProtocolWord{"sctp", kEthIpv4, kSctp},
    ProtocolWord{"sctp6", kEthIpv6, kSctp},
    ProtocolWord{"arp", net::ethernet::kArp, 0},
    ProtocolWord{"rarp", 0x8035, 0},
    ProtocolWord{"mpls", 0x8847, 0},
    ProtocolWord{"mplsm", 0x8848, 0},

    ProtocolWord{"ip6", kEthIpv6, 0},
};

// Bits by name, the lowest first.
inline constexpr std::array<std::string_view, 12> kTcpFlagNames = {
    "fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]"};
inline constexpr std::array<std::string_view, 8> kConnectionStateNames = {
    "new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat"};
inline constexpr uint8_t kConnectionInvalid = 16;

// Kinds of fragments: the bits of `ip_frag` that each looks at, and their values.
struct FragmentWord {
  std::string_view word;
  uint8_t value;
  uint8_t mask;
};
inline constexpr std::array kFragmentWords = {
    FragmentWord{"no", 0, 3},
    FragmentWord{"yes", classify::kFragmentAny, 1},
    FragmentWord{"first", 1, 3},
    FragmentWord{"later", 3, 3},
    FragmentWord{"not_later", 0, classify::kFragmentLater},
};

// Fields that an action can set, and by which words. Those of ports go with one protocol.
struct SetWord {
  std::string_view word;
  classify::Field field;
  uint16_t eth_type;  // that packets must have; 0: any
  uint8_t ip_proto;   // the same
};
inline constexpr std::array kSetWords = {
    SetWord{"eth_src", classify::Field::kEthSrc, 0, 0},
    SetWord{"eth_dst", classify::Field::kEthDst, 0, 0},
    SetWord{"ip_src", classify::Field::kIpv4Src, kEthIpv4, 0},
    SetWord{"ip_dst", classify::Field::kIpv4Dst, kEthIpv4, 0},
    SetWord{"ipv6_src", classify::Field::kIpv6Src, kEthIpv6, 0},
    SetWord{"ipv6_dst", classify::Field::kIpv6Dst, kEthIpv6, 0},
    SetWord{"tcp_src", classify::Field::kTpSrc, 0, kTcp},
    SetWord{"tcp_dst", classify::Field::kTpDst, 0, kTcp},
    SetWord{"udp_src", classify::Field::kTpSrc, 0, kUdp},
    SetWord{"udp_dst", classify::Field::kTpDst, 0, kUdp},
    SetWord{"sctp_src", classify::Field::kTpSrc, 0, kSctp},
    SetWord{"sctp_dst", classify::Field::kTpDst, 0, kSctp},
    SetWord{"ip_dscp", classify::Field::kIpDscp, 0, 0},
    SetWord{"reg0", classify::Field::kReg0, 0, 0},
    SetWord{"reg1", classify::Field::kReg1, 0, 0},
    SetWord{"reg2", classify::Field::kReg2, 0, 0},
    SetWord{"reg3", classify::Field::kReg3, 0, 0},
    SetWord{"vlan_vid", classify::Field::kVlan, 0, 0},
    SetWord{"vlan_pcp", classify::Field::kVlan, 0, 0},
};

// A number of bytes in wire order, and back.
template <size_t kBytes>
[[nodiscard]] constexpr classify::FieldNumber number_of(const std::array<uint8_t, kBytes>& bytes) {
  classify::FieldNumber number;
  for (const uint8_t byte : bytes) {
    number.high = number.high << 8 | number.low >> 56;
    number.low = number.low << 8 | byte;
  }
  return number;
}
template <size_t kBytes>
[[nodiscard]] constexpr std::array<uint8_t, kBytes> bytes_of(classify::FieldNumber number) {
  std::array<uint8_t, kBytes> bytes{};
  for (size_t i = kBytes; i-- > 0;) {
    bytes[i] = static_cast<uint8_t>(number.low);
    number.low = number.low >> 8 | number.high << 56;
    number.high >>= 8;
  }
  return bytes;
}

// "12" or "0x1f", and no more than `max`.
[[nodiscard]] std::optional<uint64_t> parse_number(std::string_view word, uint64_t max);

}  // namespace roost::openflow
