#include "roost/l3/icmp_errors.h"

#include <array>

#include "roost/net/flow_key.h"

namespace roost::l3 {

namespace {

net::IpAddress sender_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) return net::FlowKey6::from_packet(packet, parsed).source;
  return net::FlowKey4::from_packet(packet, parsed).source;
}

net::IpAddress destination_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) return net::FlowKey6::from_packet(packet, parsed).destination;
  return net::FlowKey4::from_packet(packet, parsed).destination;
}

}  // namespace

IcmpErrors::IcmpErrors(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
                       uint64_t hash_seed, IcmpErrorCounters& counters)
    : next_hops_(next_hops),
      outbox_(outbox),
      too_big_(tick_seconds, hash_seed),
      time_exceeded_(tick_seconds, hash_seed),
      unreachable_(tick_seconds, hash_seed),
      counters_(counters) {}

std::pair<AnswerBudget&, uint64_t&> IcmpErrors::kind_of(net::IcmpAnswer::Reason reason) {
  switch (reason) {
    case net::IcmpAnswer::Reason::kTooBig:
      return {too_big_, counters_.too_big};
    case net::IcmpAnswer::Reason::kTimeExceeded:
      return {time_exceeded_, counters_.time_exceeded};
    default:
      return {unreachable_, counters_.unreachable};
  }
}

void IcmpErrors::port_unreachable(const net::Packet& packet, const net::ParsedPacket& parsed) {
  send(packet, parsed, {.reason = net::IcmpAnswer::Reason::kPortUnreachable},
       destination_of(packet, parsed));
}

void IcmpErrors::send(const net::Packet& packet, const net::ParsedPacket& parsed,
                      net::IcmpAnswer answer, std::optional<net::IpAddress> source) {
  const Interface& interface = next_hops_.interface(packet.in_port);
  const net::IpAddress destination = sender_of(packet, parsed);
  if (!source) source = source_towards(interface, destination);
  std::array<uint8_t, net::kIcmpAnswerBytesMax> frame;
  size_t bytes = 0;
  if (source) {
    answer.source_mac = interface.mac;
    answer.vlan = interface.vlan;
    answer.source = *source;
    bytes = net::make_icmp_answer(packet, parsed, answer, frame);
  }
  if (bytes == 0) {
    ++counters_.unsendable;
    return;
  }
  const auto [budget, sent] = kind_of(answer.reason);
  if (budget.take(now_, destination) &&
      outbox_.send(packet.in_port, std::span(frame).first(bytes))) {
    ++sent;
  } else {
    ++counters_.limited;
  }
}

}  // namespace roost::l3
