// Definitions of BasicDatapath, for the sources that instantiate it.
#pragma once

#include "apps/nat/datapath/datapath.h"
#include "roost/conntrack/fragment_table_impl.h"

namespace roost::nat {

template <class Tables>
BasicDatapath<Tables>::BasicDatapath(BasicState<Tables>& state, const node::FlowOwner&)
    : state_(state),
      translator_(state),
      forwarder_({.ports = state.config().network.ports,
                  .tick_seconds = state.config().tick_seconds(),
                  .hash_seed = state.config().hash_seed},
                 state.next_hops(), state.routes(), state.icmp_errors(), state.local_counters()) {}

template <class Tables>
void BasicDatapath<Tables>::advance(Tick now) {
  state_.tracker().connections().advance(now);
  state_.tracker().fragments().advance(now);
}

template <class Tables>
void BasicDatapath<Tables>::process(net::PacketBatch& batch, Tick now) {
  advance(now);
  translator_.clear();
  forwarder_.admit(batch, now, [&](size_t lane) {
    translator_.ask(lane, batch.packets()[lane], forwarder_.parsed()[lane]);
    return true;
  });
  translator_.find_all();
  translate(batch, false);
  forwarder_.forward(batch, now, translator_.translations());
  forwarder_.set_counting(false);
  state_.tracker().send_released(outbox(),
                                 [&](net::PacketBatch& one, const net::ParsedPacket& parsed) {
                                   forward_released(one, parsed, now);
                                 });
  forwarder_.set_counting(true);
}

// In the order of arrival: a packet finds the connection that one before it has begun.
template <class Tables>
void BasicDatapath<Tables>::translate(net::PacketBatch& batch, bool was_released) {
  forwarder_.lanes<net::Ipv4Address>().keep_if([&](size_t lane) {
    net::Packet& packet = batch.packets()[lane];
    net::ParsedPacket& parsed = forwarder_.parsed()[lane];
    const auto verdict = translator_.decide(lane, packet, parsed, was_released);
    if (!verdict) return true;
    batch.verdicts()[lane] = *verdict;
    if (verdict->is_drop()) tell_if_refused(packet, parsed, verdict->drop_cause());
    return false;
  });
  if (state_.config().routes_ipv6) return;
  forwarder_.lanes<net::Ipv6Address>().keep_if([&](size_t lane) {
    batch.verdicts()[lane] = net::drop(drop_cause::kIpv6);
    return false;
  });
}

// RFC 5508 REQ-8. Who is outside is refused in silence.
template <class Tables>
void BasicDatapath<Tables>::tell_if_refused(const net::Packet& packet,
                                            const net::ParsedPacket& parsed, net::DropCause cause) {
  const bool is_refused = cause == drop_cause::kNoPort || cause == drop_cause::kHostLimit ||
                          cause == net::DropCause::kTableFull;
  if (!is_refused || !translator_.is_from_host(packet, parsed)) return;
  forwarder_.ingress().icmp_errors().unreachable(packet, parsed,
                                                 net::IcmpAnswer::Reason::kProhibited);
}

// A fragment that has waited for its first one, and has its ports now.
template <class Tables>
void BasicDatapath<Tables>::forward_released(net::PacketBatch& one, const net::ParsedPacket& parsed,
                                             Tick now) {
  forwarder_.parsed()[0] = parsed;
  forwarder_.lanes<net::Ipv6Address>().clear();
  forwarder_.lanes<net::Ipv4Address>().clear();
  forwarder_.lanes<net::Ipv4Address>().push(0);
  translate(one, true);
  forwarder_.forward(one, now, translator_.translations());
}

template <class Tables>
void BasicDatapath<Tables>::idle(Tick now, uint64_t budget) {
  advance(now);
  state_.tracker().connections().maintain(budget);
  state_.tracker().fragments().maintain(1);
  forwarder_.idle(now, budget);
}

}  // namespace roost::nat
