// Writing the PROXY protocol's header: see proxy_header.h.
#include "roost/net/proxy_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"

namespace roost::net {
namespace {

constexpr std::array<uint8_t, 12> kSignature = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                                0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
constexpr uint8_t kVersion2Proxy = 0x21;
constexpr uint8_t kTcpOverIpv4 = 0x11;
constexpr uint8_t kTcpOverIpv6 = 0x21;

template <class Address>
constexpr bool kIsProxyIpv6 = std::is_same_v<Address, Ipv6Address>;

template <class Address>
std::array<uint8_t, kProxyHeaderBytes<Address>> make_header(const Endpoint<Address>& source,
                                                            const Endpoint<Address>& destination) {
  std::array<uint8_t, kProxyHeaderBytes<Address>> header{};
  uint8_t* at = std::ranges::copy(kSignature, header.data()).out;
  *at++ = kVersion2Proxy;
  *at++ = kIsProxyIpv6<Address> ? kTcpOverIpv6 : kTcpOverIpv4;
  store_be16(at, 2 * sizeof(Address) + 4);
  at = std::ranges::copy(source.address.bytes, at + 2).out;
  at = std::ranges::copy(destination.address.bytes, at).out;
  store_be16(at, source.port);
  store_be16(at + 2, destination.port);
  return header;
}

// The length fields and all checksums, for a header that is there already.
template <size_t kBytes>
void account_for(const Packet& packet, const ParsedPacket& parsed,
                 const std::array<uint8_t, kBytes>& header) {
  static_assert(kBytes % 2 == 0, "words behind the header stay words");
  uint8_t* ip = packet.data + parsed.ip_offset;
  uint8_t* tcp = packet.data + parsed.l4_offset;
  uint8_t* length = ip + (parsed.is_ipv6 ? ipv6::kPayloadLength : ipv4::kTotalLength);
  const uint16_t length_before = load_be16(length);
  store_be16(length, static_cast<uint16_t>(length_before + kBytes));
  if (!parsed.is_ipv6) {
    ChecksumChange of_ip;
    of_ip.change16(length_before, load_be16(length));
    store_be16(ip + ipv4::kChecksum, of_ip.apply(load_be16(ip + ipv4::kChecksum)));
  }
  ChecksumChange of_tcp;
  of_tcp.change32(parsed.l4_bytes, parsed.l4_bytes + kBytes);  // in the pseudo header
  for (size_t at = 0; at < kBytes; at += 2) of_tcp.change16(0, load_be16(&header[at]));
  if ((parsed.tcp_flags & tcp::kUrg) != 0) {
    const uint16_t urgent = load_be16(tcp + tcp::kUrgentPointer);
    store_be16(tcp + tcp::kUrgentPointer,
               static_cast<uint16_t>(std::min<size_t>(urgent + kBytes, UINT16_MAX)));
    of_tcp.change16(urgent, load_be16(tcp + tcp::kUrgentPointer));
  }
  store_be16(tcp + tcp::kChecksum, of_tcp.apply(load_be16(tcp + tcp::kChecksum)));
}

template <class Address>
void insert(Packet& packet, ParsedPacket& parsed, const Endpoint<Address>& source,
            const Endpoint<Address>& destination) {
  constexpr auto kBytes = static_cast<uint32_t>(kProxyHeaderBytes<Address>);
  const size_t data_offset =
      parsed.l4_offset + size_t{4} * (packet.data[parsed.l4_offset + tcp::kDataOffset] >> 4);
  ROOST_DEBUG_ASSERT(parsed.is_ipv6 == kIsProxyIpv6<Address> && packet.headroom >= kBytes &&
                     data_offset <= packet.contiguous_bytes);
  std::memmove(packet.data - kBytes, packet.data, data_offset);
  packet.data -= kBytes;
  packet.headroom -= kBytes;
  packet.contiguous_bytes += kBytes;
  packet.total_bytes += kBytes;
  const auto header = make_header(source, destination);
  std::ranges::copy(header, packet.data + data_offset);
  account_for(packet, parsed, header);
  parsed.ip_bytes += kBytes;
  parsed.l4_bytes += kBytes;
}

}  // namespace

void insert_proxy_header(Packet& packet, ParsedPacket& parsed, const Endpoint4& source,
                         const Endpoint4& destination) {
  insert(packet, parsed, source, destination);
}

void insert_proxy_header(Packet& packet, ParsedPacket& parsed, const Endpoint6& source,
                         const Endpoint6& destination) {
  insert(packet, parsed, source, destination);
}

}  // namespace roost::net
