// Outer headers: see encapsulation.h.
#include "roost/net/encapsulation.h"

#include <cstring>
#include <span>
#include <type_traits>

#include "roost/base/assert.h"
#include "roost/net/byte_order.h"
#include "roost/net/checksum.h"
#include "roost/net/headers.h"

namespace roost::net {
namespace {

constexpr uint8_t kTtl = 64;
constexpr size_t kFlowLabel = 2;              // the low 16 of its 20 bits
constexpr uint16_t kGueSourcePorts = 0xc000;  // the upper quarter: RFC 6335's dynamic ports

uint8_t protocol_of(Encapsulation kind, bool is_ipv6) {
  if (kind == Encapsulation::kGue) return static_cast<uint8_t>(IpProtocol::kUdp);
  return is_ipv6 ? kProtocolIpv6InIp : kProtocolIpv4InIp;
}

// `ip` has zeros where nothing is written; the inner packet's header is `inner`.
void write_outer_ip(std::span<uint8_t> ip, const uint8_t* inner, uint32_t outer_bytes,
                    const Tunnel<Ipv4Address>& tunnel) {
  ip[ipv4::kVersionAndLength] = 0x45;
  ip[ipv4::kTypeOfService] = inner[ipv4::kTypeOfService];
  store_be16(&ip[ipv4::kTotalLength], static_cast<uint16_t>(outer_bytes));
  store_be16(&ip[ipv4::kIdentification], tunnel.identification);
  store_be16(&ip[ipv4::kFragment], load_be16(inner + ipv4::kFragment) & ipv4::kDontFragment);
  ip[ipv4::kTtl] = kTtl;
  ip[ipv4::kProtocol] = protocol_of(tunnel.kind, false);
  std::memcpy(&ip[ipv4::kSource], &tunnel.source, sizeof tunnel.source);
  std::memcpy(&ip[ipv4::kDestination], &tunnel.destination, sizeof tunnel.destination);
  store_be16(&ip[ipv4::kChecksum], checksum_of(sum_words(ip)));
}

void write_outer_ip(std::span<uint8_t> ip, const uint8_t* inner, uint32_t outer_bytes,
                    const Tunnel<Ipv6Address>& tunnel) {
  constexpr uint16_t kTrafficClass = 0x0ff0;
  store_be16(ip.data(), static_cast<uint16_t>(0x6000 | (load_be16(inner) & kTrafficClass)));
  store_be16(&ip[kFlowLabel], tunnel.flow_hash);
  store_be16(&ip[ipv6::kPayloadLength], static_cast<uint16_t>(outer_bytes - ipv6::kHeaderBytes));
  ip[ipv6::kNextHeader] = protocol_of(tunnel.kind, true);
  ip[ipv6::kHopLimit] = kTtl;
  std::memcpy(&ip[ipv6::kSource], &tunnel.source, sizeof tunnel.source);
  std::memcpy(&ip[ipv6::kDestination], &tunnel.destination, sizeof tunnel.destination);
}

template <class Address>
void write_gue(std::span<uint8_t> udp, uint32_t udp_bytes, const Tunnel<Address>& tunnel) {
  constexpr bool kIsIpv6 = std::is_same_v<Address, Ipv6Address>;
  store_be16(&udp[udp::kSourcePort], kGueSourcePorts | tunnel.flow_hash);
  store_be16(&udp[udp::kDestinationPort], tunnel.gue_port);
  store_be16(&udp[udp::kLength], static_cast<uint16_t>(udp_bytes));
  udp[udp::kHeaderBytes + gue::kProtocol] = kIsIpv6 ? kProtocolIpv6InIp : kProtocolIpv4InIp;
}

}  // namespace

size_t encapsulation_bytes(Encapsulation kind, bool is_ipv6) {
  const size_t ip_bytes = is_ipv6 ? ipv6::kHeaderBytes : ipv4::kHeaderBytesMin;
  return ip_bytes + (kind == Encapsulation::kGue ? udp::kHeaderBytes + gue::kHeaderBytes : 0);
}

template <class Address>
bool encapsulate(Packet& packet, const ParsedPacket& parsed, const Tunnel<Address>& tunnel) {
  constexpr bool kIsIpv6 = std::is_same_v<Address, Ipv6Address>;
  ROOST_DEBUG_ASSERT(parsed.is_ipv6 == kIsIpv6);
  const auto added = static_cast<uint32_t>(encapsulation_bytes(tunnel.kind, kIsIpv6));
  const uint32_t outer_bytes = parsed.ip_bytes + added;
  if (added > packet.headroom || outer_bytes > kIpBytesMax) return false;

  const uint8_t* inner = packet.data + parsed.ip_offset;
  std::memmove(packet.data - added, packet.data, parsed.ip_offset);
  packet.data -= added;
  packet.headroom -= added;
  packet.contiguous_bytes += added;
  packet.total_bytes += added;
  const std::span<uint8_t> outer(packet.data + parsed.ip_offset, added);
  std::memset(outer.data(), 0, outer.size());
  const size_t ip_bytes = encapsulation_bytes(Encapsulation::kIpInIp, kIsIpv6);
  write_outer_ip(outer.first(ip_bytes), inner, outer_bytes, tunnel);
  if (tunnel.kind == Encapsulation::kGue) {
    write_gue(outer.subspan(ip_bytes), outer_bytes - static_cast<uint32_t>(ip_bytes), tunnel);
  }
  return true;
}

template bool encapsulate(Packet&, const ParsedPacket&, const Tunnel<Ipv4Address>&);
template bool encapsulate(Packet&, const ParsedPacket&, const Tunnel<Ipv6Address>&);

}  // namespace roost::net
