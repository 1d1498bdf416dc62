// What names a flow: both addresses, both ports and the protocol, as a key for a flow table.
//
// Keys are hashed and compared as plain bytes, so every byte of them is a member and those without
// meaning are zero. Addresses are in wire order; ports are numbers in the machine's order.
//
//   FlowKey4   0        4             8            10                 12        13     16
//              | source | destination | source port | destination port | protocol | zero |
//   FlowKey6   0        16            32           34                 36        37     40
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "roost/net/address.h"
#include "roost/net/headers.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// One end of a flow.
template <class AddressType>
struct Endpoint {
  AddressType address{};
  uint16_t port = 0;

  auto operator<=>(const Endpoint&) const = default;
};
using Endpoint4 = Endpoint<Ipv4Address>;
using Endpoint6 = Endpoint<Ipv6Address>;

template <class AddressType>
struct FlowKey {
  using Address = AddressType;
  static constexpr bool kIsIpv6 = std::is_same_v<AddressType, Ipv6Address>;
  // Tables need not store the zeroes at the end.
  static constexpr size_t kSignificantBytes = kIsIpv6 ? 37 : 13;

  AddressType source{};
  AddressType destination{};
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  IpProtocol protocol{};
  std::array<uint8_t, 3> zero{};

  // Of a packet that parsed as kOk, and as this family; of one that parsed as kFragment or
  // kUnsupportedProtocol, with the ports that `parsed` has.
  [[nodiscard]] static FlowKey from_packet(const Packet& packet, const ParsedPacket& parsed) {
    ROOST_DEBUG_ASSERT(parsed.is_ipv6 == kIsIpv6);
    const uint8_t* header = packet.data + parsed.ip_offset;
    if constexpr (kIsIpv6) {
      FlowKey key;
      std::memcpy(&key.source, header + ipv6::kSource, sizeof key.source);
      std::memcpy(&key.destination, header + ipv6::kDestination, sizeof key.destination);
      key.source_port = parsed.source_port;
      key.destination_port = parsed.destination_port;
      key.protocol = parsed.protocol;
      return key;
    } else {
      // Made of whole words: a load of what was just stored in smaller pieces cannot be forwarded,
      // and stalls.
      static_assert(std::endian::native == std::endian::little);
      std::array<uint64_t, 2> words;
      std::memcpy(&words[0], header + ipv4::kSource, sizeof words[0]);
      words[1] = parsed.source_port | uint64_t{parsed.destination_port} << 16 |
                 uint64_t{static_cast<uint8_t>(parsed.protocol)} << 32;
      return std::bit_cast<FlowKey>(words);
    }
  }

  // The key of the flow's other direction.
  [[nodiscard]] constexpr FlowKey reversed() const {
    return {destination, source, destination_port, source_port, protocol, {}};
  }

  constexpr bool operator==(const FlowKey& other) const {  // `zero` is zero in all
    return source == other.source && destination == other.destination &&
           source_port == other.source_port && destination_port == other.destination_port &&
           protocol == other.protocol;
  }
};
using FlowKey4 = FlowKey<Ipv4Address>;
using FlowKey6 = FlowKey<Ipv6Address>;

// The key of an IPv4 flow among those of IPv6.
[[nodiscard]] constexpr FlowKey6 ipv4_mapped(const FlowKey4& key) {
  return {ipv4_mapped(key.source),
          ipv4_mapped(key.destination),
          key.source_port,
          key.destination_port,
          key.protocol,
          {}};
}

static_assert(sizeof(FlowKey4) == 16, "the table's padded key size of 16 bytes");
static_assert(sizeof(FlowKey6) == 40, "the table's padded key size of 40 bytes");
static_assert(offsetof(FlowKey4, zero) == FlowKey4::kSignificantBytes &&
              offsetof(FlowKey6, zero) == FlowKey6::kSignificantBytes);
static_assert(offsetof(FlowKey4, source_port) == 8 && offsetof(FlowKey4, protocol) == 12);
static_assert(offsetof(FlowKey6, source_port) == 32 && offsetof(FlowKey6, protocol) == 36);
static_assert(std::is_trivially_copyable_v<FlowKey4> && std::is_trivially_copyable_v<FlowKey6>,
              "the table moves keys as bytes");
static_assert(std::has_unique_object_representations_v<FlowKey4> &&
                  std::has_unique_object_representations_v<FlowKey6>,
              "equal keys have equal bytes, so bytes can be hashed and compared");

}  // namespace roost::net
