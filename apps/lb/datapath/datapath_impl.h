// Definitions of BasicDatapath, for the sources that instantiate it.
#pragma once

#include "apps/lb/datapath/datapath.h"
#include "roost/hash/random_seed.h"

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
      refusals_(state.next_hops(), ingress_.outbox(), ingress_.icmp_errors(),
                state.config().tick_seconds(),
                state.config().table.hash_seed.value_or(random_seed()), state.resets()),
      ipv4_path_(state.ipv4(), state, ingress_, refusals_, owner_),
      ipv6_path_(state.ipv6(), state, ingress_, refusals_, owner_) {}

template <class Tables>
void BasicDatapath<Tables>::process(net::PacketBatch& batch, Tick now) {
  state_.tracker().advance(now);
  ingress_.advance(now);
  refusals_.advance(now);
  admit_all(batch, now);
  ipv4_path_.forward(ipv4_lanes_, batch, parsed_, now);
  ipv6_path_.forward(ipv6_lanes_, batch, parsed_, now);
  ipv4_path_.set_counting(false);
  ipv6_path_.set_counting(false);
  send_released(state_.ipv4(), now);
  send_released(state_.ipv6(), now);
  ipv4_path_.set_counting(true);
  ipv6_path_.set_counting(true);
  // After the packets, so that an error finds the connection that its batch has created.
  for (size_t i = 0; i < icmp_lane_count_; ++i) {
    const size_t lane = icmp_lanes_[i];
    net::Packet& packet = batch.packets()[lane];
    net::ParsedPacket& parsed = parsed_[lane];
    batch.verdicts()[lane] = is_for_ipv6(packet, parsed) ? ipv6_path_.forward_error(packet, parsed)
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

// Hands the lane off if the flow is another worker's; else it is one of the family's, unless it is
// a fragment that does not go on now.
template <class Tables>
template <class Address, class Fragments>
void BasicDatapath<Tables>::sort(size_t lane, net::PacketBatch& batch,
                                 const net::FlowKey<Address>& key, Family<Address, Tables>& family,
                                 Fragments& fragments, conntrack::AskedLanes<Address>& lanes) {
  const net::Packet& packet = batch.packets()[lane];
  net::ParsedPacket& parsed = parsed_[lane];
  if (const auto owner =
          other_owner_of(packet, key, family.services(), family.connections().ports(), owner_)) {
    batch.verdicts()[lane] = net::LaneVerdict::handoff(*owner);
  } else if (!parsed.fragment.is_one()) {
    lanes.push(lane, key, family.connections());
  } else if (!is_of_a_service(key, family)) {
    batch.verdicts()[lane] = drop(drop_cause::kNoService);
  } else if (const auto verdict = fragments.place(packet, parsed)) {
    batch.verdicts()[lane] = *verdict;
  } else {
    net::FlowKey<Address> whole = key;  // now it has ports
    whole.source_port = parsed.source_port;
    whole.destination_port = parsed.destination_port;
    whole.protocol = parsed.protocol;
    lanes.push(lane, whole, family.connections());
  }
}

template <class Tables>
void BasicDatapath<Tables>::sort_ipv4(size_t lane, net::PacketBatch& batch) {
  const auto key = net::FlowKey4::from_packet(batch.packets()[lane], parsed_[lane]);
  auto& fragments = state_.ipv4().tracker().fragments();
  if (lb::is_for_ipv6(key, state_.ipv6().connections().ports())) {
    sort(lane, batch, net::ipv4_mapped(key), state_.ipv6(), fragments, ipv6_lanes_);
  } else {
    sort(lane, batch, key, state_.ipv4(), fragments, ipv4_lanes_);
  }
}

// Sorts what is admitted by owner and family.
template <class Tables>
void BasicDatapath<Tables>::admit_all(net::PacketBatch& batch, Tick now) {
  ipv4_lanes_.count = 0;
  ipv6_lanes_.count = 0;
  icmp_lane_count_ = 0;
  for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
    const net::Packet& packet = batch.packets()[lane];
    net::ParsedPacket& parsed = parsed_[lane];
    if (const auto cause = ingress_.admit(packet, parsed)) {
      refuse(lane, *cause, batch, now);
    } else if (parsed.is_ipv6) {
      sort(lane, batch, net::FlowKey6::from_packet(packet, parsed), state_.ipv6(),
           state_.ipv6().tracker().fragments(), ipv6_lanes_);
    } else {
      sort_ipv4(lane, batch);
    }
  }
}

template <class Tables>
template <class Address>
void BasicDatapath<Tables>::send_released(Family<Address, Tables>& family, Tick now) {
  family.tracker().send_released(outbox(), [&](net::PacketBatch& one, net::ParsedPacket& parsed) {
    forward_alone(one, parsed, now);
  });
}

// One packet, of this worker's.
template <class Tables>
void BasicDatapath<Tables>::forward_alone(net::PacketBatch& one, net::ParsedPacket& parsed,
                                          Tick now) {
  const net::Packet& packet = one.packets()[0];
  const auto forward = [&](const auto& key, auto& family, auto& lanes, auto& path) {
    lanes.count = 0;
    lanes.push(0, key, family.connections());
    path.forward(lanes, one, std::span(&parsed, 1), now);
  };
  if (parsed.is_ipv6) {
    forward(net::FlowKey6::from_packet(packet, parsed), state_.ipv6(), ipv6_lanes_, ipv6_path_);
    return;
  }
  const auto key = net::FlowKey4::from_packet(packet, parsed);
  if (lb::is_for_ipv6(key, state_.ipv6().connections().ports())) {
    forward(net::ipv4_mapped(key), state_.ipv6(), ipv6_lanes_, ipv6_path_);
  } else {
    forward(key, state_.ipv4(), ipv4_lanes_, ipv4_path_);
  }
}

// What is not a packet of a flow: some is for the balancer itself, ICMP is looked at later, and an
// expired TTL is answered with time exceeded.
template <class Tables>
void BasicDatapath<Tables>::refuse(size_t lane, DropCause cause, net::PacketBatch& batch,
                                   Tick now) {
  net::Packet& packet = batch.packets()[lane];
  net::ParsedPacket& parsed = parsed_[lane];
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
