#include "roost/l3/local_delivery.h"

#include "roost/l3/admission.h"
#include "roost/net/arp.h"
#include "roost/net/byte_order.h"
#include "roost/net/echo.h"
#include "roost/net/multicast_listener.h"
#include "roost/net/neighbour_discovery.h"
#include "roost/net/rewrite.h"

namespace roost::l3 {

namespace {

// Nothing when it is not ICMPv6.
std::optional<uint8_t> icmpv6_type(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (!parsed.is_ipv6 || parsed.protocol != net::kProtocolIcmp6 ||
      parsed.l4_offset >= packet.contiguous_bytes || parsed.l4_bytes == 0) {
    return {};
  }
  return packet.data[parsed.l4_offset + net::icmpv6::kType];
}

struct IpEnds {
  net::IpAddress source{}, destination{};
};

IpEnds ends_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) {
    const auto key = net::FlowKey6::from_packet(packet, parsed);
    return {key.source, key.destination};
  }
  const auto key = net::FlowKey4::from_packet(packet, parsed);
  return {key.source, key.destination};
}

}  // namespace

std::optional<net::LaneVerdict> LocalDelivery::decide(net::Packet& packet,
                                                      net::ParsedPacket& parsed,
                                                      net::DropCause cause, Tick now) {
  const bool is_candidate = cause == net::DropCause::kNotIp || cause == net::DropCause::kNotForUs ||
                            cause == net::DropCause::kUnsupportedProtocol;
  if (!is_candidate) return {};
  const bool is_to_group = net::read_macs(packet).destination.is_multicast();
  const Interface& interface = next_hops_.interface(packet.in_port);
  const bool may_be_for_us = cause != net::DropCause::kNotForUs ||
                             (is_to_group && is_right_vlan(parsed.vlan, interface.vlan));
  if (!may_be_for_us) return {};
  if (net::is_arp(packet, parsed)) return receive_arp(packet, parsed, now);
  const std::optional<uint8_t> type = icmpv6_type(packet, parsed);
  if (type == net::icmpv6::kSolicitation || type == net::icmpv6::kAdvertisement) {
    return receive_neighbour_message(packet, parsed, now);
  }
  if (type == net::mld::kQuery) return receive_query(packet, parsed, now);
  if (is_to_group || !net::is_echo_request(packet, parsed) ||
      !next_hops_.is_ours(ends_of(packet, parsed).destination)) {
    return {};
  }
  if (is_martian(packet, parsed) || next_hops_.is_ours(ends_of(packet, parsed).source)) {
    return net::drop(net::DropCause::kMartian);
  }
  // Its reply would not fit.
  if (parsed.ip_bytes > interface.mtu) return {};
  net::reply_to_echo(packet, parsed);
  // Never more tags than there were, so there is room.
  if (!net::rewrite_vlan_tags(packet, parsed, interface.vlan))
    return net::drop(net::DropCause::kNoHeadroom);

  ++counters_.echo_replies;
  return net::LaneVerdict::forward(packet.in_port);
}

net::LaneVerdict LocalDelivery::receive_arp(const net::Packet& packet,
                                            const net::ParsedPacket& parsed, Tick now) {
  const size_t offset = net::ether_type_offset(parsed) + net::ethernet::kEtherTypeBytes;
  const auto message = net::parse_arp({packet.data + offset, packet.contiguous_bytes - offset});
  if (!message) return net::drop(net::DropCause::kBadNeighbourMessage);
  next_hops_.neighbours().receive(packet.in_port, *message, now, outbox_);
  const bool is_solicitation = message->is_request && message->sender != message->target;
  return consume_message(packet.in_port, message->sender, is_solicitation);
}

net::LaneVerdict LocalDelivery::receive_neighbour_message(const net::Packet& packet,
                                                          const net::ParsedPacket& parsed,
                                                          Tick now) {
  const auto message = net::parse_neighbour_message(packet, parsed);
  const net::MacAddress from = net::read_macs(packet).source;
  if (!message || !from.is_station()) return net::drop(net::DropCause::kBadNeighbourMessage);
  next_hops_.neighbours().receive(packet.in_port, *message, from, now, outbox_);
  return consume_message(packet.in_port, message->target, message->is_solicitation);
}

// All workers learn the querier's version; the one that received the query reports.
net::LaneVerdict LocalDelivery::receive_query(const net::Packet& packet,
                                              const net::ParsedPacket& parsed, Tick now) {
  const auto query = net::parse_listener_query(packet, parsed);
  if (!query) return net::drop(net::DropCause::kBadNeighbourMessage);
  const bool is_copy = packet.origin == net::PacketOrigin::kCopy;
  next_hops_.listener().receive(packet.in_port, *query, is_copy, now);
  return net::LaneVerdict::consume().with_copies();
}

// Each worker has its own neighbours and solicits them itself, but any may receive the
// advertisement. So advertisements go to all; solicitations do not, nor what claims an address of
// ours, which is counted once.
net::LaneVerdict LocalDelivery::consume_message(uint16_t port, const net::IpAddress& about,
                                                bool is_solicitation) const {
  const bool is_for_all = !is_solicitation && !next_hops_.neighbours().is_local(port, about);
  return is_for_all ? net::LaneVerdict::consume().with_copies() : net::LaneVerdict::consume();
}

}  // namespace roost::l3
