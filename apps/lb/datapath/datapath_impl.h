// Definitions of BasicDatapath, for the sources that instantiate it.
#pragma once

#include "apps/lb/datapath/datapath.h"
#include "apps/lb/datapath/steering.h"

namespace roost::lb {

template <class Tables>
BasicDatapath<Tables>::BasicDatapath(BasicState<Tables>& state, const node::FlowOwner& owner)
    : state_(state),
      owner_(owner),
      ingress_({.ports = state.config().network.ports,
                .tick_seconds = state.config().tick_seconds(),
                .hash_seed = state.config().table.hash_seed,
                .verify_l4_checksum = state.config().verify_l4_checksum},
               state.next_hops(), state.icmp_errors(), state.local_counters()),
      ipv4_path_(state.ipv4(), state, ingress_, owner_),
      ipv6_path_(state.ipv6(), state, ingress_, owner_) {}

// Nothing here changes what other batches find: fragments, which do, are sorted by finish().
template <class Tables>
void BasicDatapath<Tables>::start(net::PacketBatch& batch, Started& started) const {
  started.has_fragments = false;
  started.ipv4.lanes.count = 0;
  started.ipv6.lanes.count = 0;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    net::ParsedPacket& parsed = started.parsed[lane];
    started.causes[lane] = ingress_.admit(batch.packets()[lane], parsed);
    if (started.causes[lane]) continue;
    if (parsed.fragment.is_one()) {
      started.has_fragments = true;
    } else if (parsed.is_ipv6) {
      sort(lane, batch, parsed, state_.ipv6(), started.ipv6.lanes);
    } else {
      sort(lane, batch, parsed, state_.ipv4(), started.ipv4.lanes);
    }
  }
  started.ipv4.flight = ipv4_path_.start(started.ipv4.lanes);
  started.ipv6.flight = ipv6_path_.start(started.ipv6.lanes);
}

template <class Tables>
void BasicDatapath<Tables>::finish(net::PacketBatch& batch, Started& started, Tick now) {
  state_.tracker().advance(now);
  ingress_.advance(now);
  icmp_lane_count_ = 0;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    if (const auto cause = started.causes[lane])
      refuse(lane, *cause, started.parsed[lane], batch, now);
  }
  if (started.has_fragments) sort_with_fragments(batch, started);
  ipv4_path_.forward(started.ipv4.lanes, started.ipv4.flight, batch, started.parsed, now);
  ipv6_path_.forward(started.ipv6.lanes, started.ipv6.flight, batch, started.parsed, now);
  send_released(state_.ipv4(), ipv4_path_, now);
  send_released(state_.ipv6(), ipv6_path_, now);
  // After the packets, so that an error finds the connection that its batch has created.
  for (size_t i = 0; i < icmp_lane_count_; ++i) {
    const size_t lane = icmp_lanes_[i];
    net::Packet& packet = batch.packets()[lane];
    net::ParsedPacket& parsed = started.parsed[lane];
    batch.verdicts()[lane] = parsed.is_ipv6 ? ipv6_path_.forward_error(packet, parsed)
                                            : ipv4_path_.forward_error(packet, parsed);
  }
}

template <class Tables>
void BasicDatapath<Tables>::idle(Tick now, uint64_t bucket_budget) {
  state_.tracker().advance(now);
  state_.tracker().maintain(bucket_budget);
  ingress_.idle(now, bucket_budget);
}

// Whether a packet between these addresses can belong to a connection, whatever its ports are.
template <class Address, class Tables>
[[nodiscard]] bool is_of_a_service(const net::FlowKey<Address>& key,
                                   const Family<Address, Tables>& family) {
  return family.services().is_virtual_address(key.destination) ||
         family.services().is_backend_address(key.source);
}

// Whether the lane's flow is another worker's; then it is handed off.
template <class Tables>
template <class Address>
bool BasicDatapath<Tables>::hand_off(size_t lane, net::PacketBatch& batch,
                                     const net::FlowKey<Address>& key,
                                     const Family<Address, Tables>& family) const {
  const auto owner = other_owner_of(batch.packets()[lane], key, family.services(),
                                    family.connections().ports(), owner_);
  if (owner) batch.verdicts()[lane] = net::LaneVerdict::handoff(*owner);
  return owner.has_value();
}

template <class Tables>
template <class Address>
void BasicDatapath<Tables>::sort(size_t lane, net::PacketBatch& batch,
                                 const net::ParsedPacket& parsed,
                                 const Family<Address, Tables>& family,
                                 FamilyLanes<Address>& lanes) const {
  const auto key = net::FlowKey<Address>::from_packet(batch.packets()[lane], parsed);
  if (!hand_off(lane, batch, key, family)) lanes.push(lane, key);
}

// A fragment is one of the family's lanes if it goes on now.
template <class Tables>
template <class Address>
void BasicDatapath<Tables>::sort_fragment(size_t lane, net::PacketBatch& batch,
                                          net::ParsedPacket& parsed,
                                          Family<Address, Tables>& family,
                                          FamilyLanes<Address>& lanes) const {
  const net::Packet& packet = batch.packets()[lane];
  const auto key = net::FlowKey<Address>::from_packet(packet, parsed);
  if (hand_off(lane, batch, key, family)) return;
  if (!is_of_a_service(key, family)) {
    batch.verdicts()[lane] = drop(drop_cause::kNoService);
  } else if (const auto verdict = family.tracker().fragments().place(packet, parsed)) {
    batch.verdicts()[lane] = *verdict;
  } else {
    lanes.push(lane, net::FlowKey<Address>::from_packet(packet, parsed));  // now it has ports
  }
}

// Fragments stand among the other lanes, in their order.
template <class Tables>
void BasicDatapath<Tables>::sort_with_fragments(net::PacketBatch& batch, Started& started) const {
  const auto sort_all = [&](auto& family, bool is_ipv6, auto& own) {
    own.lanes.count = 0;
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      net::ParsedPacket& parsed = started.parsed[lane];
      if (started.causes[lane] || parsed.is_ipv6 != is_ipv6) continue;
      if (parsed.fragment.is_one()) {
        sort_fragment(lane, batch, parsed, family, own.lanes);
      } else {
        sort(lane, batch, parsed, family, own.lanes);
      }
    }
  };
  sort_all(state_.ipv4(), false, started.ipv4);
  sort_all(state_.ipv6(), true, started.ipv6);
  started.ipv4.flight = ipv4_path_.start(started.ipv4.lanes);
  started.ipv6.flight = ipv6_path_.start(started.ipv6.lanes);
}

template <class Tables>
template <class Address>
void BasicDatapath<Tables>::send_released(Family<Address, Tables>& family,
                                          FamilyPath<Address, Tables>& path, Tick now) {
  path.set_counting(false);
  family.tracker().send_released(outbox(), [&](net::PacketBatch& one, net::ParsedPacket& parsed) {
    FamilyLanes<Address> lanes;
    lanes.push(0, net::FlowKey<Address>::from_packet(one.packets()[0], parsed));
    path.forward(lanes, one, std::span(&parsed, 1), now);
  });
  path.set_counting(true);
}

// What is not a packet of a flow: some is for the balancer itself, ICMP is looked at later, and an
// expired TTL is answered with time exceeded.
template <class Tables>
void BasicDatapath<Tables>::refuse(size_t lane, DropCause cause, net::ParsedPacket& parsed,
                                   net::PacketBatch& batch, Tick now) {
  net::Packet& packet = batch.packets()[lane];
  if (const auto verdict = ingress_.deliver(packet, parsed, cause, now)) {
    batch.verdicts()[lane] = *verdict;
    return;
  }
  if (cause == DropCause::kUnsupportedProtocol && !parsed.fragment.is_one() &&
      parsed.protocol == (parsed.is_ipv6 ? net::kProtocolIcmp6 : net::kProtocolIcmp4)) {
    icmp_lanes_[icmp_lane_count_++] = static_cast<uint8_t>(lane);
    return;
  }
  if (cause == DropCause::kTtlExpired) ingress_.icmp_errors().time_exceeded(packet, parsed);
  batch.verdicts()[lane] = drop(cause);
}

}  // namespace roost::lb
