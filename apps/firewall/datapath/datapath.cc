#include "apps/firewall/datapath/datapath.h"

#include "roost/conntrack/connection_addresses.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/hash/random_seed.h"
#include "roost/net/arp.h"
#include "roost/net/link_message.h"
#include "roost/net/parse_cause.h"

namespace roost::firewall {

namespace {

using net::ParseVerdict;

l3::Ingress::Config ingress_config(const Config& config) {
  return {.ports = config.network.ports,
          .tick_seconds = config.tick_seconds(),
          .hash_seed = config.hash_seed};
}

}  // namespace

Datapath::Datapath(State& state, const node::FlowOwner& owner)
    : state_(state),
      owner_(owner),
      hands_off_(owner.is_shared() && state.config().is_stateful),
      forwarder_(ingress_config(state.config()), state.next_hops(), state.routes(),
                 state.icmp_errors(), state.local_counters()),
      refusals_(state.next_hops(), forwarder_.outbox(), forwarder_.ingress().icmp_errors(),
                state.config().tick_seconds(), state.config().hash_seed.value_or(random_seed()),
                state.resets()),
      filter_(state, refusals_) {}

void Datapath::process(net::PacketBatch& batch, Tick now) {
  advance(now);
  filter_.clear();
  if (state_.config().is_wire) {
    admit_to_wire(batch, now);
  } else {
    forwarder_.admit(batch, now, [&](size_t lane) { return goes_on(lane, batch); });
  }
  filter<net::Ipv4Address>(batch, now);
  filter<net::Ipv6Address>(batch, now);
  forward(batch, now);
  forwarder_.set_counting(false);
  send_released<net::Ipv4Address>(now);
  send_released<net::Ipv6Address>(now);
  forwarder_.set_counting(true);
}

void Datapath::idle(Tick now, uint64_t budget) {
  advance(now);
  forwarder_.idle(now, budget);
  state_.tracker().maintain(budget);
  state_.rules().maintain(budget);
}

void Datapath::advance(Tick now) {
  state_.tracker().advance(now);
  state_.rules().advance(now);
  refusals_.advance(now);
}

void Datapath::admit_to_wire(net::PacketBatch& batch, Tick now) {
  forwarder_.ingress().advance(now);
  auto& ipv4 = forwarder_.lanes<net::Ipv4Address>();
  auto& ipv6 = forwarder_.lanes<net::Ipv6Address>();
  ipv4.clear();
  ipv6.clear();
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::Packet& packet = batch.packets()[lane];
    net::ParsedPacket& parsed = forwarder_.parsed()[lane];
    const ParseVerdict verdict = net::parse(packet, parsed);
    const auto cause = net::drop_cause_of(verdict);
    if (is_link_frame(packet, parsed, verdict)) {
      ++state_.filter_counters().link;
      connect(lane, batch);
    } else if (cause && verdict != ParseVerdict::kUnsupportedProtocol) {
      batch.verdicts()[lane] = net::drop(*cause);
    } else if (goes_on(lane, batch)) {
      (parsed.is_ipv6 ? ipv6 : ipv4).push(lane);
    }
  }
}

bool Datapath::goes_on(size_t lane, net::PacketBatch& batch) {
  if (hands_off_ && hand_off(lane, batch)) return false;
  return filter_.take(lane, batch, forwarder_.parsed()[lane]);
}

bool Datapath::is_link_frame(const net::Packet& packet, const net::ParsedPacket& parsed,
                             ParseVerdict verdict) const {
  if (verdict == ParseVerdict::kUnsupportedProtocol) return net::is_link_message(packet, parsed);
  if (verdict != ParseVerdict::kNotIp) return false;
  return state_.config().passes_ethertypes || net::is_arp(packet, parsed);
}

bool Datapath::hand_off(size_t lane, net::PacketBatch& batch) {
  const net::Packet& packet = batch.packets()[lane];
  if (packet.origin != net::PacketOrigin::kPort) return false;
  const size_t owner = conntrack::owner_of(
      owner_, conntrack::connection_addresses(packet, forwarder_.parsed()[lane]));
  if (owner == owner_.worker()) return false;
  batch.verdicts()[lane] = net::LaneVerdict::handoff(owner);
  return true;
}

template <class Address>
void Datapath::filter(net::PacketBatch& batch, Tick now) {
  filter_.decide<Address>(forwarder_.lanes<Address>(), batch, forwarder_.parsed(), now);
}

void Datapath::forward(net::PacketBatch& batch, Tick now) {
  if (!state_.config().is_wire) return forwarder_.forward(batch, now);
  for (const uint8_t lane : forwarder_.lanes<net::Ipv4Address>().span()) connect(lane, batch);
  for (const uint8_t lane : forwarder_.lanes<net::Ipv6Address>().span()) connect(lane, batch);
}

// As it came, by the other port.
void Datapath::connect(size_t lane, net::PacketBatch& batch) {
  const net::Packet& packet = batch.packets()[lane];
  batch.verdicts()[lane] = net::LaneVerdict::forward(packet.in_port == 0 ? 1 : 0);
  forwarder_.count_other(packet);
}

template <class Address>
void Datapath::send_released(Tick now) {
  Family<Address>& family = state_.family<Address>();
  family.send_released(outbox(), [&](net::PacketBatch& one, const net::ParsedPacket& parsed) {
    forwarder_.lanes<net::Ipv4Address>().clear();
    forwarder_.lanes<net::Ipv6Address>().clear();
    forwarder_.lanes<Address>().push(0);
    forwarder_.parsed()[0] = parsed;
    filter_.clear();
    filter_.ask<Address>(0, one.packets()[0], parsed);
    filter<Address>(one, now);
    forward(one, now);
  });
}

}  // namespace roost::firewall
