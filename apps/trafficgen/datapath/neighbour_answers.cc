#include "apps/trafficgen/datapath/neighbour_answers.h"

#include <algorithm>
#include <optional>

#include "roost/net/arp.h"
#include "roost/net/byte_order.h"
#include "roost/net/frame_header.h"
#include "roost/net/neighbour_discovery.h"

namespace roost::trafficgen {
namespace {

bool is_of(const SideConfig& side, const net::IpAddress& address) {
  return std::ranges::any_of(side.prefixes,
                             [&](const net::IpPrefix& prefix) { return prefix.contains(address); });
}

net::FrameHeader header_to(const net::MacAddress& to, const SideConfig& side,
                           const net::VlanTags& vlan, uint16_t ether_type) {
  return {.macs = {.source = side.mac, .destination = to}, .vlan = vlan, .ether_type = ether_type};
}

// The message behind the EtherType, if the frame is one of ARP.
std::optional<net::ArpMessage> read_arp(const net::Packet& packet, const net::VlanTags& vlan) {
  const size_t at = net::ethernet::kAddressesBytes + vlan.count * net::vlan::kTagBytes;
  const size_t begin = at + net::ethernet::kEtherTypeBytes;
  if (packet.contiguous_bytes < begin || net::load_be16(packet.data + at) != net::ethernet::kArp)
    return {};
  return net::parse_arp({packet.data + begin, packet.contiguous_bytes - begin});
}

size_t answer_arp(const net::ArpMessage& request, const net::VlanTags& vlan, const SideConfig& side,
                  std::span<uint8_t> answer) {
  const net::FrameHeader header = header_to(request.sender_mac, side, vlan, net::ethernet::kArp);
  net::write_arp(net::write_frame_header(answer, header), {.is_request = false,
                                                           .sender_mac = side.mac,
                                                           .sender = request.target,
                                                           .target_mac = request.sender_mac,
                                                           .target = request.sender});
  return header.byte_count() + net::kArpBytes;
}

size_t answer_solicitation(const net::NeighbourMessage& request, const net::VlanTags& vlan,
                           const SideConfig& side, std::span<uint8_t> answer) {
  const bool is_probe = request.source == net::Ipv6Address{};
  const net::MacAddress to = request.link_address.value_or(side.gateway);
  const net::FrameHeader header = header_to(to, side, vlan, net::ethernet::kIpv6);
  return header.byte_count() +
         net::write_neighbour_message(net::write_frame_header(answer, header),
                                      {.is_solicitation = false,
                                       .is_solicited = !is_probe,
                                       .is_override = true,
                                       .source = request.target,
                                       .destination = is_probe ? net::kAllNodes : request.source,
                                       .target = request.target,
                                       .link_address = side.mac});
}

}  // namespace

size_t answer_neighbour(const net::Packet& packet, const net::ParsedPacket& parsed,
                        const SideConfig& side, std::span<uint8_t> answer) {
  if (const auto arp = read_arp(packet, parsed.vlan)) {
    if (!arp->is_request || !is_of(side, arp->target)) return 0;
    return answer_arp(*arp, parsed.vlan, side, answer);
  }
  if (!parsed.is_ipv6 || parsed.protocol != net::kProtocolIcmp6) return 0;
  const auto message = net::parse_neighbour_message(packet, parsed);
  if (!message || !message->is_solicitation || !is_of(side, message->target)) return 0;
  return answer_solicitation(*message, parsed.vlan, side, answer);
}

}  // namespace roost::trafficgen
