// Definitions of BasicTranslator, for the sources that instantiate it.
#pragma once

#include <optional>

#include "apps/nat/datapath/translator.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/conntrack/tracked_packet.h"
#include "roost/l3/icmp_error_admission.h"
#include "roost/net/echo.h"
#include "roost/net/l4_ports.h"

namespace roost::nat {

using conntrack::BoundPort;
using conntrack::Connection;
using conntrack::kInside;
using conntrack::kOutside;
using conntrack::PeerCounts;
using net::DropCause;

template <class Tables>
BasicTranslator<Tables>::BasicTranslator(BasicState<Tables>& state)
    : state_(state),
      held_(state.held()),
      connections_(state.tracker().connections()),
      lanes_(connections_, held_) {
  for (const l3::PortConfig& port : state.config().network.ports) inside_.push_back(port.is_inside);
}

// What is neither TCP nor UDP, or in fragments, or between hosts inside, is looked up when its turn
// comes: it is read there, and is rare.
template <class Tables>
void BasicTranslator<Tables>::ask(size_t lane, const net::Packet& packet,
                                  const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6 || !net::is_tcp_or_udp(parsed.protocol) || parsed.fragment.is_one()) return;
  const auto key = net::FlowKey4::from_packet(packet, parsed);
  const auto to = held_.external.index_of(key.destination);
  if (!to && !inside_[packet.in_port]) return;
  const size_t owner =
      to ? held_.external.worker_of(*to) : held_.external.worker_of_host(key.source);
  if (owner != state_.worker()) return;
  if (!to) return lanes_.ask_outwards(lane, key);
  lanes_.ask_inwards(lane, key, {*to, key.destination_port});
}

template <class Tables>
std::optional<net::LaneVerdict> BasicTranslator<Tables>::decide(size_t lane, net::Packet& packet,
                                                                net::ParsedPacket& parsed,
                                                                bool was_released) {
  net::Translation& translation = translations_[lane];
  translation = {};
  Subject subject{.key = net::FlowKey4::from_packet(packet, parsed)};
  const net::Ipv4Address source = subject.key.source;
  const net::Ipv4Address destination = subject.key.destination;
  const bool is_inside = inside_[packet.in_port];
  const auto to = held_.external.index_of(destination);
  // Another worker has given it its source.
  const bool has_source = is_inside && packet.origin == net::PacketOrigin::kWorker && to &&
                          held_.external.index_of(source).has_value();
  if (!has_source && state_.next_hops().is_ours(source)) return net::drop(DropCause::kMartian);
  if (!to && state_.next_hops().is_ours(destination)) return {};  // which tells its sender
  if (!to && !is_inside) return net::drop(drop_cause::kNotExternal);
  const bool is_icmp = parsed.protocol == net::kProtocolIcmp4;
  if (!is_icmp && !net::is_tcp_or_udp(parsed.protocol)) {
    if (is_inside && !to && stays_inside(destination)) return {};
    return net::drop(DropCause::kUnsupportedProtocol);
  }
  const bool is_error = is_icmp && !parsed.fragment.is_one() &&
                        net::echo_kind_of(packet, parsed) == net::EchoKind::kNone;
  if (is_error) {
    if (const Refusal refusal = read_error(packet, parsed, subject)) return net::drop(*refusal);
  }
  const bool is_outbound = is_inside && !has_source;
  const size_t owner = is_outbound ? held_.external.worker_of_host(subject.key.source)
                                   : held_.external.worker_of(*to);
  if (owner != state_.worker()) {
    if (packet.origin == net::PacketOrigin::kPort) return net::LaneVerdict::handoff(owner);
    return net::drop(DropCause::kNoFlow);  // a reload has moved it since it was handed off
  }
  if (!is_error) {
    auto& fragments = state_.tracker().fragments();
    if (!was_released) {
      net::LaneVerdict verdict;
      if (!conntrack::complete_ports(fragments, packet, parsed, verdict)) return verdict;
    }
    read_packet(packet, parsed, subject);
  }
  translation.error = subject.error;
  if (is_outbound) {
    if (const Refusal refusal = translate_source(lane, subject, translation))
      return net::drop(*refusal);
    if (!translation.source || !to) return {};
    ++state_.counters().hairpinned;
    subject.key.source = translation.source->address;
    subject.key.source_port = translation.source->port;
    if (held_.external.worker_of(*to) != state_.worker()) {
      translation.apply(packet, parsed);
      return net::LaneVerdict::handoff(held_.external.worker_of(*to));
    }
  }
  if (const Refusal refusal = translate_destination(lane, subject, *to, translation))
    return net::drop(*refusal);
  return {};
}

template <class Tables>
bool BasicTranslator<Tables>::is_from_host(const net::Packet& packet,
                                           const net::ParsedPacket& parsed) const {
  return inside_[packet.in_port] &&
         !held_.external.index_of(net::FlowKey4::from_packet(packet, parsed).source);
}

// An error goes to who sent what it is about; else it is forged.
template <class Tables>
typename BasicTranslator<Tables>::Refusal BasicTranslator<Tables>::read_error(
    const net::Packet& packet, const net::ParsedPacket& parsed, Subject& subject) const {
  net::IcmpError error;
  if (const Refusal refusal = l3::cause_of(parse_icmp_error(packet, parsed, error))) return refusal;
  const auto about = net::embedded_key<net::FlowKey4>(packet, error);
  if (about.source != subject.key.destination) return DropCause::kBadIcmp;
  subject.key = about.reversed();
  subject.error = error;
  return {};
}

template <class Tables>
void BasicTranslator<Tables>::read_packet(const net::Packet& packet,
                                          const net::ParsedPacket& parsed, Subject& subject) {
  subject.key.source_port = parsed.source_port;
  subject.key.destination_port = parsed.destination_port;
  if (parsed.fragment.is_later()) return;
  subject.segment = net::read_tcp_segment(packet, parsed);
  subject.begins = !subject.segment->has(net::tcp::kRst) &&
                   net::echo_kind_of(packet, parsed) != net::EchoKind::kReply;
}

template <class Tables>
bool BasicTranslator<Tables>::stays_inside(const net::Ipv4Address& destination) const {
  const routing::RoutingTable* const table = state_.routes().table.get();
  const auto out_port = table == nullptr ? std::nullopt : table->out_port_of(destination);
  return out_port && inside_[*out_port];
}

// An endpoint that begins to talk gets its mapping. A packet that stays inside is not translated.
template <class Tables>
typename BasicTranslator<Tables>::Refusal BasicTranslator<Tables>::translate_source(
    size_t lane, const Subject& subject, net::Translation& translation) {
  const typename Connections::Match match = lanes_.find(lane, subject.key);
  BoundPort bound;
  if (match.connection != nullptr) {
    bound = match.connection->bound;
    if (!subject.error) update(subject, *match.connection, match.sender);
  } else {
    const auto to = held_.external.index_of(subject.key.destination);
    if (!to && stays_inside(subject.key.destination)) {
      ++state_.counters().untranslated;
      translation.error.reset();
      return {};
    }
    if (subject.error) return DropCause::kIcmpNoFlow;
    if (!subject.begins) return DropCause::kNoFlow;
    const auto mapped = held_.mappings.map(subject.key.protocol, subject.source(),
                                           held_.external.of_host(subject.key.source));
    if (mapped.outcome == conntrack::MapOutcome::kNoPort) return drop_cause::kNoPort;
    if (mapped.outcome == conntrack::MapOutcome::kHostLimit) return drop_cause::kHostLimit;
    bound = mapped.bound;
    if (const Refusal refusal = create(subject.key, kInside, bound, subject)) return refusal;
  }
  translation.source = held_.end_of(bound);
  ++state_.counters().outbound;
  return {};
}

template <class Tables>
typename BasicTranslator<Tables>::Refusal BasicTranslator<Tables>::translate_destination(
    size_t lane, const Subject& subject, uint16_t address, net::Translation& translation) {
  const BoundPort bound{address, subject.key.destination_port};
  const auto inside = held_.mappings.inside_of(subject.key.protocol, bound);
  if (!inside) return subject.error ? DropCause::kIcmpNoFlow : drop_cause::kNoMapping;
  const net::FlowKey4 outwards = conntrack::outwards_of(*inside, subject.key);
  const typename Connections::Match match = lanes_.find(lane, outwards);
  if (match.connection == nullptr) {
    if (subject.error) return DropCause::kIcmpNoFlow;
    if (const Refusal refusal = filter(subject, bound, *inside)) return refusal;
    held_.mappings.hold(subject.key.protocol, bound);
    if (const Refusal refusal = create(outwards, kOutside, bound, subject)) return refusal;
  } else if (!subject.error) {
    update(subject, *match.connection, conntrack::other_end(match.sender));
  }
  translation.destination = *inside;
  ++state_.counters().inbound;
  return {};
}

// Why a packet from outside may not begin a connection. A forward was made for everybody.
template <class Tables>
typename BasicTranslator<Tables>::Refusal BasicTranslator<Tables>::filter(
    const Subject& subject, BoundPort bound, const net::Endpoint4& inside) {
  const net::IpProtocol protocol = subject.key.protocol;
  const Filtering filtering = state_.config().filtering;
  if (!held_.mappings.is_static(protocol, bound)) {
    if (filtering == Filtering::kAddressAndPort) return drop_cause::kFiltered;
    if (filtering == Filtering::kAddress &&
        !held_.peers.has(PeerCounts::key_of(protocol, inside, subject.key.source))) {
      return drop_cause::kFiltered;
    }
  }
  if (!subject.begins) return DropCause::kNoFlow;
  constexpr uint8_t kFlags = net::tcp::kSyn | net::tcp::kAck | net::tcp::kFin | net::tcp::kRst;
  const bool is_midstream =
      protocol == net::IpProtocol::kTcp &&
      (subject.segment.value_or(net::TcpSegment{}).flags & kFlags) != net::tcp::kSyn;
  return is_midstream ? Refusal(DropCause::kNoFlow) : Refusal();
}

// The mapping is held already; without a connection no longer.
template <class Tables>
typename BasicTranslator<Tables>::Refusal BasicTranslator<Tables>::create(
    const net::FlowKey4& outwards, conntrack::Side from, BoundPort bound, const Subject& subject) {
  Connection connection{.owner = from, .bound = bound};
  connection.begin(outwards.protocol, subject.segment.value_or(net::TcpSegment{}), false);
  const net::FlowKey4 key = from == kInside ? outwards : outwards.reversed();
  const auto outcome = connections_.create_connection(key, connection, state_.timeouts());
  lanes_.forget();
  if (outcome != conntrack::CreateOutcome::kCreated) {
    held_.mappings.release(outwards.protocol, bound);
    return DropCause::kTableFull;
  }
  held_.peers.add(PeerCounts::key_of(outwards.protocol, {outwards.source, outwards.source_port},
                                     outwards.destination));
  return {};
}

template <class Tables>
void BasicTranslator<Tables>::update(const Subject& subject, Connection& connection,
                                     conntrack::Sender sender) {
  conntrack::follow(connections_, connection, sender, subject.key.protocol, subject.segment,
                    state_.timeouts());
}

}  // namespace roost::nat
