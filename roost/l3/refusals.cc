#include "roost/l3/refusals.h"

#include <array>
#include <span>

#include "roost/net/flow_key.h"
#include "roost/net/tcp_reset.h"

namespace roost::l3 {

void Refusals::refuse(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const auto answer = [&](const auto& sender) {
    if (next_hops_.is_ours(sender)) return;
    if (parsed.protocol == net::IpProtocol::kTcp) {
      reset(packet, parsed, sender);
    } else {
      icmp_errors_.port_unreachable(packet, parsed);
    }
  };
  if (parsed.is_ipv6) {
    answer(net::FlowKey6::from_packet(packet, parsed).source);
  } else {
    answer(net::FlowKey4::from_packet(packet, parsed).source);
  }
}

void Refusals::reset(const net::Packet& packet, const net::ParsedPacket& parsed,
                     const net::IpAddress& destination) {
  const Interface& interface = next_hops_.interface(packet.in_port);
  std::array<uint8_t, net::kTcpResetBytesMax> frame;
  const size_t bytes = net::make_tcp_reset(
      packet, parsed, {.source_mac = interface.mac, .vlan = interface.vlan}, frame);
  if (bytes == 0) {
    ++counters_.unsendable;
  } else if (budget_.take(now_, destination) &&
             outbox_.send(packet.in_port, std::span(frame).first(bytes))) {
    ++counters_.sent;
  } else {
    ++counters_.limited;
  }
}

}  // namespace roost::l3
