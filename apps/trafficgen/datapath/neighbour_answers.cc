#include "apps/trafficgen/datapath/neighbour_answers.h"

#include <algorithm>
#include <optional>

#include "roost/l3/neighbour_frames.h"
#include "roost/net/arp.h"
#include "roost/net/byte_order.h"
#include "roost/net/frame_header.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/rewrite.h"

namespace roost::trafficgen {
namespace {

bool is_of(const SideConfig& side, const net::IpAddress& address) {
  return std::ranges::any_of(side.prefixes,
                             [&](const net::IpPrefix& prefix) { return prefix.contains(address); });
}

// The message behind the EtherType, if the frame is one of ARP.
std::optional<net::ArpMessage> read_arp(const net::Packet& packet, const net::VlanTags& vlan) {
  const size_t begin = net::FrameHeader{.vlan = vlan}.byte_count();
  if (packet.contiguous_bytes < begin) return {};
  const uint8_t* message = packet.data + begin;
  if (net::load_be16(message - net::ethernet::kEtherTypeBytes) != net::ethernet::kArp) return {};
  return net::parse_arp({message, packet.contiguous_bytes - begin});
}

}  // namespace

bool answer_neighbour(const net::Packet& packet, const net::ParsedPacket& parsed,
                      const SideConfig& side, net::Outbox& outbox) {
  const l3::Interface interface {
    .addresses = {}, .mac = side.mac, .vlan = parsed.vlan
  };
  if (const auto arp = read_arp(packet, parsed.vlan)) {
    return arp->is_request && is_of(side, arp->target) &&
           l3::send_advertisement(side.port, interface, *arp, outbox);
  }
  if (!parsed.is_ipv6 || parsed.protocol != net::kProtocolIcmp6) return false;
  const auto message = net::parse_neighbour_message(packet, parsed);
  return message && message->is_solicitation && is_of(side, message->target) &&
         l3::send_advertisement(side.port, interface, *message, net::read_macs(packet).source,
                                outbox);
}

}  // namespace roost::trafficgen
