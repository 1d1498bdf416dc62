#include "roost/l3/neighbour_frames.h"

#include "roost/net/frame_header.h"

namespace roost::l3 {
namespace {

net::FrameHeader header_to(const net::MacAddress& to, const Interface& interface,
                           uint16_t ether_type) {
  return {.macs = {.source = interface.mac, .destination = to},
          .vlan = interface.vlan,
          .ether_type = ether_type};
}

bool send_arp(uint16_t port, const Interface& interface, const net::MacAddress& to,
              const net::ArpMessage& message, net::Outbox& outbox) {
  const net::FrameHeader header = header_to(to, interface, net::ethernet::kArp);
  const std::span<uint8_t> frame = outbox.reserve(port, header.byte_count() + net::kArpBytes);
  if (frame.empty()) return false;
  net::write_arp(net::write_frame_header(frame, header), message);
  return true;
}

// The message has a link-layer address.
bool send_message(uint16_t port, const Interface& interface, const net::MacAddress& to,
                  const net::NeighbourMessage& message, net::Outbox& outbox) {
  const net::FrameHeader header = header_to(to, interface, net::ethernet::kIpv6);
  const std::span<uint8_t> frame =
      outbox.reserve(port, header.byte_count() + net::kNeighbourMessageBytes);
  if (frame.empty()) return false;
  net::write_neighbour_message(net::write_frame_header(frame, header), message);
  return true;
}

}  // namespace

bool send_solicitation(uint16_t port, const Interface& interface, const net::IpAddress& address,
                       const std::optional<net::MacAddress>& only, net::Outbox& outbox) {
  const std::optional<net::IpAddress> source = source_towards(interface, address);
  if (!source) return false;
  if (!address.is_ipv6()) {
    return send_arp(port, interface, only.value_or(net::kBroadcastMac),
                    {.is_request = true,
                     .sender_mac = interface.mac,
                     .sender = source->ipv4(),
                     .target = address.ipv4()},
                    outbox);
  }
  const net::Ipv6Address group = net::solicited_node_group(address.ipv6());
  return send_message(port, interface, only.value_or(net::group_mac(group)),
                      {.is_solicitation = true,
                       .source = source->ipv6(),
                       .destination = only ? address.ipv6() : group,
                       .target = address.ipv6(),
                       .link_address = interface.mac},
                      outbox);
}

bool send_advertisement(uint16_t port, const Interface& interface, const net::ArpMessage& request,
                        net::Outbox& outbox) {
  return send_arp(port, interface, request.sender_mac,
                  {.is_request = false,
                   .sender_mac = interface.mac,
                   .sender = request.target,
                   .target_mac = request.sender_mac,
                   .target = request.sender},
                  outbox);
}

// RFC 4861 section 7.2.4: the advertisement for a solicitation from :: goes to all nodes.
bool send_advertisement(uint16_t port, const Interface& interface,
                        const net::NeighbourMessage& solicitation, const net::MacAddress& to,
                        net::Outbox& outbox) {
  const bool is_to_all = solicitation.source == net::Ipv6Address{};
  return send_message(port, interface, is_to_all ? net::group_mac(net::kAllNodes) : to,
                      {.is_router = true,
                       .is_solicited = !is_to_all,
                       .is_override = true,
                       .source = solicitation.target,
                       .destination = is_to_all ? net::kAllNodes : solicitation.source,
                       .target = solicitation.target,
                       .link_address = interface.mac},
                      outbox);
}

// RFC 5227 section 3: sender and target are the address. RFC 4861 section 7.2.6.
bool send_unsolicited_advertisement(uint16_t port, const Interface& interface,
                                    const net::IpAddress& address, net::Outbox& outbox) {
  if (!address.is_ipv6()) {
    return send_arp(port, interface, net::kBroadcastMac,
                    {.is_request = true,
                     .sender_mac = interface.mac,
                     .sender = address.ipv4(),
                     .target = address.ipv4()},
                    outbox);
  }
  return send_message(port, interface, net::group_mac(net::kAllNodes),
                      {.is_router = true,
                       .is_override = true,
                       .source = address.ipv6(),
                       .destination = net::kAllNodes,
                       .target = address.ipv6(),
                       .link_address = interface.mac},
                      outbox);
}

}  // namespace roost::l3
