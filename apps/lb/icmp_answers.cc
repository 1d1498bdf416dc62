#include "apps/lb/icmp_answers.h"

#include <algorithm>
#include <array>

#include "roost/net/flow_key.h"

namespace roost::lb {

namespace {

constexpr double kAnswersPerSecond = 1'000;
constexpr uint32_t kAnswersAtOnceMin = 50;

// Within a tick nothing is added, so that a long tick needs a large bucket.
TokenBucket budget(double tick_seconds) {
  const double per_tick = std::clamp(kAnswersPerSecond * tick_seconds, 1.0, kAnswersPerSecond);
  const auto tokens = static_cast<uint32_t>(per_tick);
  return TokenBucket(
      {.tokens_max = std::max(tokens, kAnswersAtOnceMin), .tokens_per_tick = tokens});
}

// The port's address of that family; in the asker's network, if there is one (RFC 1812
// section 4.3.2.4).
const net::IpAddress* source_for(const node::Interface& interface, const net::IpAddress& asker) {
  const net::IpAddress* source = nullptr;
  for (const net::IpPrefix& own : interface.addresses) {
    if (own.address.is_ipv6() != asker.is_ipv6()) continue;
    if (own.contains(asker)) return &own.address;
    if (source == nullptr) source = &own.address;
  }
  return source;
}

net::IpAddress sender_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) return net::FlowKey6::from_packet(packet, parsed).source;
  return net::FlowKey4::from_packet(packet, parsed).source;
}

}  // namespace

IcmpAnswers::IcmpAnswers(const NextHops& next_hops, net::Outbox& outbox, double tick_seconds,
                         IcmpAnswerCounters& counters)
    : next_hops_(next_hops),
      outbox_(outbox),
      too_big_budget_(budget(tick_seconds)),
      time_exceeded_budget_(budget(tick_seconds)),
      counters_(counters) {}

void IcmpAnswers::send(const net::Packet& packet, const net::ParsedPacket& parsed,
                       net::IcmpAnswer::Reason reason, uint16_t mtu) {
  const bool is_too_big = reason == net::IcmpAnswer::Reason::kTooBig;
  const node::Interface& interface = next_hops_.interface(packet.in_port);
  const net::IpAddress* source = source_for(interface, sender_of(packet, parsed));
  std::array<uint8_t, net::kIcmpAnswerBytesMax> frame;
  const size_t bytes =
      source == nullptr
          ? 0
          : net::make_icmp_answer(
                packet, parsed,
                {.reason = reason, .mtu = mtu, .source_mac = interface.mac, .source = *source},
                frame);
  if (bytes == 0) {
    ++counters_.unsendable;
  } else if (!(is_too_big ? too_big_budget_ : time_exceeded_budget_).take(now_) ||
             !outbox_.send(packet.in_port, std::span(frame).first(bytes))) {
    ++counters_.limited;
  } else {
    ++(is_too_big ? counters_.too_big : counters_.time_exceeded);
  }
}

}  // namespace roost::lb
