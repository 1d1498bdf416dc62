#include "roost/l3/icmp_errors.h"

#include <algorithm>
#include <array>
#include <bit>

#include "roost/net/flow_key.h"

namespace roost::l3 {

namespace {

constexpr double kAnswersPerSecond = 1'000;
constexpr double kAnswersPerSecondToOne = 50;
constexpr uint32_t kAnswersAtOnceMin = 50;

// Within a tick nothing is added, so that a long tick needs a large bucket.
TokenBucket budget(double per_second, double tick_seconds) {
  const double per_tick = std::min(per_second * tick_seconds, per_second);
  const auto tokens = static_cast<uint32_t>(std::max(per_tick, 1.0));
  const auto ticks = static_cast<uint32_t>(std::max(1 / per_tick, 1.0));
  return TokenBucket({.tokens_max = std::max(tokens, kAnswersAtOnceMin),
                      .tokens_per_step = tokens,
                      .ticks_per_step = ticks});
}

net::IpAddress sender_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) return net::FlowKey6::from_packet(packet, parsed).source;
  return net::FlowKey4::from_packet(packet, parsed).source;
}

}  // namespace

IcmpErrors::Kind IcmpErrors::make_kind(double tick_seconds) {
  const TokenBucket to_one = budget(kAnswersPerSecondToOne, tick_seconds);
  return {budget(kAnswersPerSecond, tick_seconds), std::vector(kDestinations, to_one)};
}

IcmpErrors::IcmpErrors(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
                       uint64_t hash_seed, IcmpErrorCounters& counters)
    : next_hops_(next_hops),
      outbox_(outbox),
      too_big_(make_kind(tick_seconds)),
      time_exceeded_(make_kind(tick_seconds)),
      unreachable_(make_kind(tick_seconds)),
      hash_(hash_seed),
      counters_(counters) {}

// The destination's own budget first: one that has used that up takes nothing of the others'. In
// IPv6 a /64 network is one destination, for one host can use all its addresses.
bool IcmpErrors::may_send(Kind& kind, const net::IpAddress& destination) {
  const uint64_t network = destination.is_ipv6()
                               ? std::bit_cast<std::array<uint64_t, 2>>(destination.ipv6())[0]
                               : std::bit_cast<uint32_t>(destination.ipv4());
  const uint64_t hash = hash_.hash<sizeof network>(&network).bits;
  return kind.by_destination[hash % kDestinations].take(now_) && kind.all.take(now_);
}

std::pair<IcmpErrors::Kind&, uint64_t&> IcmpErrors::kind_of(net::IcmpAnswer::Reason reason) {
  switch (reason) {
    case net::IcmpAnswer::Reason::kTooBig:
      return {too_big_, counters_.too_big};
    case net::IcmpAnswer::Reason::kTimeExceeded:
      return {time_exceeded_, counters_.time_exceeded};
    default:
      return {unreachable_, counters_.unreachable};
  }
}

void IcmpErrors::send(const net::Packet& packet, const net::ParsedPacket& parsed,
                      net::IcmpAnswer::Reason reason, uint16_t mtu) {
  const Interface& interface = next_hops_.interface(packet.in_port);
  const net::IpAddress destination = sender_of(packet, parsed);
  const std::optional<net::IpAddress> source = source_towards(interface, destination);
  std::array<uint8_t, net::kIcmpAnswerBytesMax> frame;
  size_t bytes = 0;
  if (source) {
    const net::IcmpAnswer answer = {.reason = reason,
                                    .mtu = mtu,
                                    .source_mac = interface.mac,
                                    .vlan = interface.vlan,
                                    .source = *source};
    bytes = net::make_icmp_answer(packet, parsed, answer, frame);
  }
  if (bytes == 0) {
    ++counters_.unsendable;
    return;
  }
  const auto [kind, sent] = kind_of(reason);
  if (may_send(kind, destination) && outbox_.send(packet.in_port, std::span(frame).first(bytes))) {
    ++sent;
  } else {
    ++counters_.limited;
  }
}

}  // namespace roost::l3
