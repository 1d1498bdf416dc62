#include "roost/routing/forwarder.h"

#include <cstring>

#include "roost/net/headers.h"

namespace roost::routing {

namespace {

using net::DropCause;

template <class Address>
Address destination_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const size_t offset = parsed.is_ipv6 ? net::ipv6::kDestination : net::ipv4::kDestination;
  Address address;
  std::memcpy(&address, packet.data + parsed.ip_offset + offset, sizeof address);
  return address;
}

}  // namespace

Forwarder::Forwarder(const l3::Ingress::Config& config, l3::NextHops& next_hops,
                     WorkerRoutes& routes, l3::IcmpErrorCounters& errors, l3::LocalCounters& local)
    : next_hops_(next_hops),
      routes_(routes),
      ingress_(config, next_hops, errors, local),
      egress4_(next_hops, ingress_.icmp_errors(), ingress_.outbox(), 0),
      egress6_(next_hops, ingress_.icmp_errors(), ingress_.outbox(), 0) {}

void Forwarder::forward(net::PacketBatch& batch, Tick now,
                        std::span<net::Translation> translations) {
  forward_lanes(egress4_, batch, now, translations);
  forward_lanes(egress6_, batch, now, {});
}

// Any protocol is forwarded, so what is no TCP or UDP is admitted once it is not for us.
bool Forwarder::is_transit(size_t lane, net::PacketBatch& batch, Tick now) {
  net::Packet& packet = batch.packets()[lane];
  net::ParsedPacket& parsed = parsed_[lane];
  std::optional<DropCause> cause = ingress_.admit(packet, parsed);
  if (cause) {
    if (const auto verdict = ingress_.deliver(packet, parsed, *cause, now)) {
      batch.verdicts()[lane] = *verdict;
      return false;
    }
    if (cause == DropCause::kUnsupportedProtocol) cause = l3::refuse_transit(packet, parsed);
  }
  if (cause && cause != DropCause::kTtlExpired) {
    batch.verdicts()[lane] = net::drop(*cause);
    return false;
  }
  if (parsed.ttl > 1) return true;
  if (parsed.is_ipv6) {
    refuse_last_hop<net::Ipv6Address>(lane, batch);
  } else {
    refuse_last_hop<net::Ipv4Address>(lane, batch);
  }
  return false;
}

// A packet for us has come far enough, however few hops it has left.
template <class Address>
void Forwarder::refuse_last_hop(size_t lane, net::PacketBatch& batch) {
  const bool is_ours =
      next_hops_.is_ours(destination_of<Address>(batch.packets()[lane], parsed_[lane]));
  refuse(lane, is_ours ? DropCause::kNotServed : DropCause::kTtlExpired, batch);
}

// Its sender is told, if the rules say so.
void Forwarder::refuse(size_t lane, DropCause cause, net::PacketBatch& batch) {
  using Reason = net::IcmpAnswer::Reason;
  const net::Packet& packet = batch.packets()[lane];
  const net::ParsedPacket& parsed = parsed_[lane];
  l3::IcmpErrors& errors = ingress_.icmp_errors();
  batch.verdicts()[lane] = net::drop(cause);
  switch (cause) {
    case DropCause::kTtlExpired:
      return errors.time_exceeded(packet, parsed);
    case DropCause::kNotServed:
      return errors.unreachable(packet, parsed, Reason::kPortUnreachable);
    case DropCause::kNoRoute:
      return errors.unreachable(packet, parsed, Reason::kNoRoute);
    case DropCause::kNeighbourFailed:
      return errors.unreachable(packet, parsed, Reason::kHostUnreachable);
    default:
      return;
  }
}

template <class Address>
void Forwarder::forward_lanes(l3::Egress<Address>& egress, net::PacketBatch& batch, Tick now,
                              std::span<net::Translation> translations) {
  egress.advance(now);
  const std::span<const uint8_t> to_forward = lanes<Address>().span();
  if (to_forward.empty()) return;
  routes_.lookup_count += to_forward.size();
  std::array<Address, net::kBatchLanesMax> destinations;
  for (size_t i = 0; i < to_forward.size(); ++i) {
    const size_t lane = to_forward[i];
    destinations[i] = destination_of<Address>(batch.packets()[lane], parsed_[lane]);
    if constexpr (std::same_as<Address, net::Ipv4Address>) {
      if (!translations.empty()) translations[lane].change_destination(destinations[i]);
    }
  }
  std::array<io::Fib::Hop, net::kBatchLanesMax> hops;
  routes_.table->fib.find(std::span<const Address>(destinations).first(to_forward.size()), hops);
  for (size_t i = 0; i < to_forward.size(); ++i) {
    const size_t lane = to_forward[i];
    net::Translation* const translation = translations.empty() ? nullptr : &translations[lane];
    const net::LaneVerdict verdict =
        forward_one(destinations[i], hops[i], lane, egress, batch, now, translation);
    if (verdict.is_drop()) {
      refuse(lane, verdict.drop_cause(), batch);
    } else {
      batch.verdicts()[lane] = verdict;
    }
  }
}

template <class Address>
net::LaneVerdict Forwarder::forward_one(const Address& destination, io::Fib::Hop hop, size_t lane,
                                        l3::Egress<Address>& egress, net::PacketBatch& batch,
                                        Tick now, net::Translation* translation) {
  if (hop == RoutingTable::kLocal) return net::drop(DropCause::kNotServed);
  net::Packet& packet = batch.packets()[lane];
  net::ParsedPacket& parsed = parsed_[lane];
  l3::NeighbourIndex neighbour = l3::kNoNeighbour;
  const auto& gateway = routes_.table->hops[hop].gateway;
  if (const auto via = gateway ? gateway->as<Address>() : std::nullopt) {
    neighbour = egress.find_again(routes_.hops[hop].neighbour, *via);
  } else {
    neighbour = next_hops_.find(destination, now);
    const bool has_way = neighbour != l3::kNoNeighbour || hop != io::Fib::kNoHop;
    if (!has_way) return net::drop(DropCause::kNoRoute);
  }
  l3::Resolved resolved;
  if (!egress.resolve(packet, parsed, neighbour, 0, resolved)) return net::drop(resolved.refusal);
  if (translation != nullptr) translation->apply(packet, parsed);
  bool is_cut = false;
  const net::LaneVerdict verdict = egress.transmit(packet, parsed, resolved, nullptr, is_cut);
  // The pieces of what is cut are frames of our own.
  if (is_cut || !(is_counting_ || resolved.waits)) return verdict;
  HopCounters& counters = hop == io::Fib::kNoHop ? routes_.others : routes_.hops[hop].counters;
  ++counters.packets;
  counters.bytes += packet.total_bytes;
  return verdict;
}

}  // namespace roost::routing
