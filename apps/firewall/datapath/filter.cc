#include "apps/firewall/datapath/filter.h"

#include <array>

#include "roost/acl/rule_masks.h"
#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/net/flow_key.h"

namespace roost::firewall {

namespace {

using conntrack::CreateOutcome;
using net::DropCause;

constexpr size_t kLanes = net::kBatchLanesMax;

}  // namespace

bool Filter::take(size_t lane, net::PacketBatch& batch, net::ParsedPacket& parsed) {
  return parsed.is_ipv6 ? take_in<net::Ipv6Address>(lane, batch, parsed)
                        : take_in<net::Ipv4Address>(lane, batch, parsed);
}

template <class Address>
bool Filter::take_in(size_t lane, net::PacketBatch& batch, net::ParsedPacket& parsed) {
  const net::Packet& packet = batch.packets()[lane];
  auto& fragments = state_.family<Address>().fragments();
  if (!conntrack::complete_ports(fragments, packet, parsed, batch.verdicts()[lane])) return false;
  ask<Address>(lane, packet, parsed);
  return true;
}

template <class Address>
void Filter::ask(size_t lane, const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (!state_.config().is_stateful) return;
  Asked<Address>& asked = this->asked<Address>();
  auto& tracked = asked.packets[asked.lanes.count];
  if (!conntrack::read_tracked(packet, parsed, tracked)) return;
  asked.lanes.push(lane, tracked.key, state_.family<Address>().connections());
}

template <class Address>
void Filter::decide(net::LaneList& lanes, net::PacketBatch& batch,
                    std::span<net::ParsedPacket> parsed, Tick now) {
  if (lanes.span().empty()) return;
  auto& connections = state_.family<Address>().connections();
  const Asked<Address>& asked = this->asked<Address>();
  std::array<typename Family<Address>::Connections::Match, kLanes> matches;
  connections.find(asked.lanes.to_find(), matches);

  // Connections that were found go on first: those that begin move others in the table.
  FilterCounters& counters = state_.filter_counters();
  Undecided undecided;
  size_t next = 0;
  lanes.keep_if([&](size_t lane) {
    uint8_t place = kNotAsked;
    if (next < asked.lanes.count && asked.lanes.lanes[next] == lane) {
      place = static_cast<uint8_t>(next++);
      const auto& packet = asked.packets[place];
      if (matches[place].connection != nullptr) {
        ++(packet.is_error ? counters.related : counters.established);
        if (!packet.is_error) {
          conntrack::follow(connections, matches[place], packet, state_.timeouts());
        }
        return true;
      }
      if (packet.is_error) {
        batch.verdicts()[lane] = net::drop(DropCause::kIcmpNoFlow);
        return false;
      }
    }
    undecided.lanes[undecided.count] = static_cast<uint8_t>(lane);
    undecided.places[undecided.count++] = place;
    return true;
  });
  if (undecided.count != 0) ask_rules<Address>(lanes, undecided, batch, parsed, now);
}

template <class Address>
void Filter::ask_rules(net::LaneList& lanes, const Undecided& undecided, net::PacketBatch& batch,
                       std::span<net::ParsedPacket> parsed, Tick now) {
  std::array<classify::PacketFields, kLanes> fields;
  for (size_t i = 0; i < undecided.count; ++i) {
    const size_t lane = undecided.lanes[i];
    const net::Packet& packet = batch.packets()[lane];
    const auto key = net::FlowKey<Address>::from_packet(packet, parsed[lane]);
    const auto out_port = state_.out_port_of(key.destination, packet.in_port);
    fields[i] = acl::fields_of(key, packet.in_port, out_port);
  }
  std::array<uint32_t, kLanes> places;
  state_.rules().find(std::span<const classify::PacketFields>(fields).first(undecided.count),
                      std::span(places).first(undecided.count));
  size_t next = 0;
  lanes.keep_if([&](size_t lane) {
    if (next == undecided.count || undecided.lanes[next] != lane) return true;
    const uint8_t place = undecided.places[next];
    const auto* const tracked = place == kNotAsked ? nullptr : &asked<Address>().packets[place];
    return apply_rule<Address>(places[next++], lane, tracked, batch, parsed, now);
  });
}

template <class Address>
bool Filter::apply_rule(uint32_t place, size_t lane,
                        const conntrack::TrackedPacket<Address>* tracked, net::PacketBatch& batch,
                        std::span<net::ParsedPacket> parsed, Tick now) {
  const net::Packet& packet = batch.packets()[lane];
  acl::RuleSet& rules = state_.rules();
  rules.count(place, packet.total_bytes);
  if (rules.logs(place)) {
    state_.log().add(acl::DecisionRecord::of(place, packet, parsed[lane]), now);
  }
  switch (rules.action(place)) {
    case acl::Action::kAllow:
      if (tracked != nullptr) return begin_connection(lane, *tracked, batch);
      ++state_.filter_counters().without_connection;
      return true;
    case acl::Action::kDeny:
      batch.verdicts()[lane] = net::drop(drop_cause::kDenied);
      return false;
    case acl::Action::kReject:
      refusals_.refuse(packet, parsed[lane]);
      batch.verdicts()[lane] = net::drop(drop_cause::kRejected);
      return false;
  }
  return false;
}

// Another packet of the batch may have begun it since it was looked up.
template <class Address>
bool Filter::begin_connection(size_t lane, const conntrack::TrackedPacket<Address>& packet,
                              net::PacketBatch& batch) {
  auto& connections = state_.family<Address>().connections();
  const auto drop = [&](DropCause cause) {
    batch.verdicts()[lane] = net::drop(cause);
    return false;
  };
  if (const auto match = connections.find(packet.key); match.connection != nullptr) {
    ++state_.filter_counters().established;
    conntrack::follow(connections, match, packet, state_.timeouts());
    return true;
  }
  const bool is_picked_up = packet.key.protocol == net::IpProtocol::kTcp &&
                            !(packet.segment && packet.segment->has(net::tcp::kSyn));
  if (!conntrack::can_begin(packet) || (is_picked_up && !state_.picks_up())) {
    return drop(DropCause::kNoFlow);
  }
  const CreateOutcome outcome =
      conntrack::begin(connections, packet, batch.packets()[lane].in_port, state_.timeouts());
  if (outcome != CreateOutcome::kCreated) return drop(DropCause::kTableFull);
  ++state_.filter_counters().begun;
  return true;
}

template void Filter::ask<net::Ipv4Address>(size_t, const net::Packet&, const net::ParsedPacket&);
template void Filter::ask<net::Ipv6Address>(size_t, const net::Packet&, const net::ParsedPacket&);
template void Filter::decide<net::Ipv4Address>(net::LaneList&, net::PacketBatch&,
                                               std::span<net::ParsedPacket>, Tick);
template void Filter::decide<net::Ipv6Address>(net::LaneList&, net::PacketBatch&,
                                               std::span<net::ParsedPacket>, Tick);

}  // namespace roost::firewall
