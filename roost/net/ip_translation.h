// A packet of one IP version becomes one of the other: RFC 7915 sections 4.1 and 5.1.
//
// IPv4 addresses stand in the IPv6 header as IPv4-mapped ones (address.h), so that translation
// changes no checksum of TCP or UDP, and there and back again is the same but for what only one of
// the versions has:
//
//   to IPv4   extension headers and the flow label go; up to kMayBeCutBytes it may be cut, beyond
//             that it may not; what has a fragment header is a fragment, and may be cut
//   to IPv6   options go; a fragment gets a fragment header, and so does what is to be cut; UDP
//             without checksum gets one, which IPv6 requires
//
// Damaged packets stay recognisably damaged: only an IPv4 header's own checksum is made here. Time
// grows with the packet where UDP has no checksum, else it is constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"

namespace roost::net {

// An IPv4 packet this long comes from an IPv6 one of 1,280 bytes, which any path has to carry.
inline constexpr uint32_t kMayBeCutBytes = 1'260;

// How many bytes longer a packet that parsed as kOk or kFragment is in the other version;
// negative: shorter. Nothing when it cannot be translated: an authentication header, which covers
// what changes; options behind a fragment header, which IPv4 would carry as data; UDP without
// checksum, of IPv6, which has no such, or not here as a whole; what is too long for IPv4.
[[nodiscard]] std::optional<ptrdiff_t> translation_growth(const Packet& packet,
                                                          const ParsedPacket& parsed);

// What a fragment header adds to the growth of a packet that is to be cut.
inline constexpr uint32_t kFragmentHeaderGrowth = ipv6::kExtensionBytesMin;

// Of a packet that has a growth, and so much headroom. `is_to_be_cut`: it gets a fragment header
// even if it is whole. Moves `packet.data` and with it the packet's lengths; `parsed` is kept true.
void translate_to_ipv6(Packet& packet, ParsedPacket& parsed, bool is_to_be_cut);

// Of a packet that has a growth. `identification`: of a packet that has none.
void translate_to_ipv4(Packet& packet, ParsedPacket& parsed, uint16_t identification);

// What both translations of packets and of ICMP errors write, from the headers before them.

// The first `bytes` of the frame move `growth` bytes towards the front, and the packet begins
// there.
void move_front(Packet& packet, size_t bytes, ptrdiff_t growth);

struct Ipv4HeaderFields {
  uint8_t type_of_service = 0;
  uint32_t total_bytes = 0;
  uint16_t identification = 0;
  uint16_t fragment = 0;  // offset and flags, as in the header
  uint8_t ttl = 0;
  uint8_t protocol = 0;
  Ipv4Address source{};
  Ipv4Address destination{};
};
// Of kHeaderBytesMin bytes, with its checksum.
void write_ipv4_header(uint8_t* ip, const Ipv4HeaderFields& fields);

struct Ipv6HeaderFields {
  uint8_t traffic_class = 0;
  uint32_t payload_bytes = 0;
  uint8_t next_header = 0;
  uint8_t hop_limit = 0;
  Ipv6Address source{};
  Ipv6Address destination{};
};
void write_ipv6_header(uint8_t* ip, const Ipv6HeaderFields& fields);

// The header of an IPv4 packet that begins at `ip`, as IPv6 says the same.
[[nodiscard]] Ipv6HeaderFields as_ipv6(const uint8_t* ip);
// And the other way round: all but lengths, protocol and what is said of fragments.
[[nodiscard]] Ipv4HeaderFields as_ipv4(const uint8_t* ip);

// `offset`: of the data in bytes.
struct FragmentHeaderFields {
  uint8_t next_header = 0;
  uint32_t offset = 0;
  bool is_last = true;
  uint32_t identification = 0;
};
void write_fragment_header(uint8_t* header, const FragmentHeaderFields& fields);
// The same words of an IPv4 header: offset and "more fragments", without "don't fragment".
[[nodiscard]] uint16_t ipv4_fragment_field(const uint8_t* fragment_header);

}  // namespace roost::net
