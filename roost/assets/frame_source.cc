#include "roost/assets/frame_source.h"

#include <cstring>
#include <span>

#include "roost/net/arp.h"
#include "roost/net/parse_cause.h"

namespace roost::assets {

namespace {

using net::Ipv4Address;
using net::Ipv6Address;

// An address that one interface can have on a link. IPv4's broadcast addresses of networks are not
// told apart.
bool is_hosts(const Ipv4Address& address) {
  return address.bytes[0] < 224 && address != Ipv4Address{};
}
bool is_hosts(const Ipv6Address& address) {
  return !address.is_multicast() && address != Ipv6Address{} && !net::is_ipv4_mapped(address);
}

template <class Address>
Address address_at(const uint8_t* bytes) {
  Address address;
  std::memcpy(address.bytes.data(), bytes, sizeof address);
  return address;
}

template <class Address>
std::optional<HostKey> host_of(const Address& address, const net::MacAddress& mac,
                               const net::VlanTags& vlan) {
  if (!is_hosts(address) || !mac.is_station()) return {};
  HostKey key{.address = net::key_address<Ipv6Address>(address), .mac = mac};
  if (vlan.count > 0) key.vlan = vlan.tags[0].identifier();
  if (vlan.count > 1) key.inner_vlan = vlan.tags[1].identifier();
  return key;
}

// Of a frame that is no IP.
FrameSource read_arp(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (!net::is_arp(packet, parsed)) return {.cause = net::DropCause::kNotIp};
  const std::span bytes(packet.data, packet.contiguous_bytes);
  const size_t arp_at = net::ether_type_offset(parsed) + net::ethernet::kEtherTypeBytes;
  const auto arp = net::parse_arp(bytes.subspan(arp_at));
  if (!arp) return {.cause = net::DropCause::kBadNeighbourMessage};
  return {.host = host_of(arp->sender, arp->sender_mac, parsed.vlan)};
}

template <class Address>
FrameSource read_ip(const net::Packet& packet, const net::ParsedPacket& parsed, size_t source_at) {
  const uint8_t* const at = packet.data + parsed.ip_offset + source_at;
  const auto source = address_at<Address>(at);
  const auto mac = address_at<net::MacAddress>(packet.data + net::ethernet::kSource);
  FrameSource frame_source{.host = host_of(source, mac, parsed.vlan)};
  if (parsed.fragment.is_later()) return frame_source;
  if (parsed.protocol == net::IpProtocol::kTcp) frame_source.tcp_flags = parsed.tcp_flags;
  if (parsed.protocol == net::IpProtocol::kUdp) {
    frame_source.udp = {net::key_address<Ipv6Address>(source),
                        net::key_address<Ipv6Address>(address_at<Address>(at + sizeof source)),
                        parsed.source_port, parsed.destination_port};
  }
  return frame_source;
}

bool has_flags(const std::optional<uint8_t>& flags, uint8_t of, uint8_t wanted) {
  return flags.has_value() && (*flags & of) == wanted;
}

}  // namespace

bool FrameSource::is_syn() const {
  return has_flags(tcp_flags, net::tcp::kSyn | net::tcp::kAck, net::tcp::kSyn);
}
bool FrameSource::is_syn_ack() const {
  constexpr uint8_t kSynAck = net::tcp::kSyn | net::tcp::kAck;
  return has_flags(tcp_flags, kSynAck | net::tcp::kRst, kSynAck);
}

FrameSource read_frame_source(const net::Packet& packet, const net::ParsedPacket& parsed,
                              net::ParseVerdict verdict) {
  if (verdict == net::ParseVerdict::kNotIp) return read_arp(packet, parsed);
  if (verdict != net::ParseVerdict::kUnsupportedProtocol) {
    if (const auto cause = net::drop_cause_of(verdict)) return {.cause = cause};
  }
  return parsed.is_ipv6 ? read_ip<Ipv6Address>(packet, parsed, net::ipv6::kSource)
                        : read_ip<Ipv4Address>(packet, parsed, net::ipv4::kSource);
}

}  // namespace roost::assets
