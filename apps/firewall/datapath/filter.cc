#include "apps/firewall/datapath/filter.h"

#include <array>
#include <optional>

#include "apps/firewall/config/rule_masks.h"
#include "roost/conntrack/connection_table_impl.h"
#include "roost/conntrack/fragment_table_impl.h"
#include "roost/conntrack/tracked_packet.h"
#include "roost/net/flow_key.h"

namespace roost::firewall {

namespace {

using conntrack::CreateOutcome;
using net::DropCause;

constexpr size_t kLanes = net::kBatchLanesMax;

}  // namespace

// What is known of each lane: its packet as connections see it, and the connection that was found.
template <class Address>
struct Filter::Lookups {
  using Match = typename Family<Address>::Connections::Match;

  std::array<std::optional<conntrack::TrackedPacket<Address>>, kLanes> packets;
  std::array<Match, kLanes> matches;
  std::array<uint8_t, kLanes> undecided;  // lanes without a connection, which the rules decide
  size_t undecided_count = 0;
};

template <class Address>
void Filter::complete(net::LaneList& lanes, net::PacketBatch& batch,
                      std::span<net::ParsedPacket> parsed) {
  auto& fragments = state_.family<Address>().fragments();
  lanes.keep_if([&](size_t lane) {
    const auto decided = conntrack::complete_ports(fragments, batch.packets()[lane], parsed[lane]);
    if (decided) batch.verdicts()[lane] = *decided;
    return !decided;
  });
}

template <class Address>
void Filter::decide(net::LaneList& lanes, net::PacketBatch& batch,
                    std::span<net::ParsedPacket> parsed, Tick now) {
  if (lanes.span().empty()) return;
  auto& connections = state_.family<Address>().connections();
  const bool is_stateful = state_.config().is_stateful;
  Lookups<Address> lookups;
  std::array<net::FlowKey<Address>, kLanes> keys;
  std::array<Hash64, kLanes> hashes;
  size_t count = 0;
  std::array<uint8_t, kLanes> asked;
  for (const uint8_t lane : lanes.span()) {
    const net::Packet& packet = batch.packets()[lane];
    auto& tracked = lookups.packets[lane];
    tracked = conntrack::read_tracked<Address>(packet, parsed[lane]);
    if (!is_stateful || !tracked) continue;
    asked[count] = lane;
    keys[count] = tracked->key;
    hashes[count] = connections.prefetch(keys[count]);
    ++count;
  }
  std::array<typename Lookups<Address>::Match, kLanes> found;
  connections.find({std::span<const net::FlowKey<Address>>(keys).first(count),
                    std::span<const Hash64>(hashes).first(count)},
                   std::span(found).first(count));
  for (size_t i = 0; i < count; ++i) lookups.matches[asked[i]] = found[i];

  // Connections that were found go on first: those that begin move others in the table.
  FilterCounters& counters = state_.filter_counters();
  lanes.keep_if([&](size_t lane) {
    const auto& packet = lookups.packets[lane];
    const auto& match = lookups.matches[lane];
    if (match.connection != nullptr) {
      ++(packet->error ? counters.related : counters.established);
      if (!packet->error) conntrack::follow(connections, match, *packet, state_.timeouts());
      return true;
    }
    if (is_stateful && packet && packet->error) {
      batch.verdicts()[lane] = net::drop(DropCause::kIcmpNoFlow);
      return false;
    }
    lookups.undecided[lookups.undecided_count++] = static_cast<uint8_t>(lane);
    return true;
  });
  if (lookups.undecided_count != 0) ask_rules(lanes, lookups, batch, parsed, now);
}

template <class Address>
void Filter::ask_rules(net::LaneList& lanes, const Lookups<Address>& lookups,
                       net::PacketBatch& batch, std::span<net::ParsedPacket> parsed, Tick now) {
  const auto undecided = std::span(lookups.undecided).first(lookups.undecided_count);
  std::array<classify::PacketFields, kLanes> fields;
  for (size_t i = 0; i < undecided.size(); ++i) {
    const net::Packet& packet = batch.packets()[undecided[i]];
    const auto key = net::FlowKey<Address>::from_packet(packet, parsed[undecided[i]]);
    const auto out_port = state_.out_port_of(key.destination, packet.in_port);
    fields[i] = fields_of(key, packet.in_port, out_port);
  }
  std::array<uint32_t, kLanes> places;
  state_.rules().find(std::span<const classify::PacketFields>(fields).first(undecided.size()),
                      std::span(places).first(undecided.size()));
  size_t next = 0;
  lanes.keep_if([&](size_t lane) {
    if (next == undecided.size() || undecided[next] != lane) return true;
    return apply_rule(places[next++], lane, lookups, batch, parsed, now);
  });
}

template <class Address>
bool Filter::apply_rule(uint32_t place, size_t lane, const Lookups<Address>& lookups,
                        net::PacketBatch& batch, std::span<net::ParsedPacket> parsed, Tick now) {
  const net::Packet& packet = batch.packets()[lane];
  RuleSet& rules = state_.rules();
  rules.count(place, packet.total_bytes);
  if (rules.logs(place)) log(place, packet, parsed[lane], now);
  switch (rules.action(place)) {
    case Action::kAllow:
      if (const auto& tracked = lookups.packets[lane]; state_.config().is_stateful && tracked) {
        return begin_connection(lane, *tracked, batch);
      }
      ++state_.filter_counters().without_connection;
      return true;
    case Action::kDeny:
      batch.verdicts()[lane] = net::drop(drop_cause::kDenied);
      return false;
    case Action::kReject:
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

void Filter::log(uint32_t place, const net::Packet& packet, const net::ParsedPacket& parsed,
                 Tick now) {
  DecisionRecord record{.place = place,
                        .in_port = packet.in_port,
                        .source_port = parsed.source_port,
                        .destination_port = parsed.destination_port,
                        .protocol = static_cast<uint8_t>(parsed.protocol),
                        .bytes = packet.total_bytes};
  const auto take_ends = [&](const auto& key) {
    record.source = key.source;
    record.destination = key.destination;
  };
  if (parsed.is_ipv6) {
    take_ends(net::FlowKey6::from_packet(packet, parsed));
  } else {
    take_ends(net::FlowKey4::from_packet(packet, parsed));
  }
  state_.log().add(record, now);
}

template void Filter::complete<net::Ipv4Address>(net::LaneList&, net::PacketBatch&,
                                                 std::span<net::ParsedPacket>);
template void Filter::complete<net::Ipv6Address>(net::LaneList&, net::PacketBatch&,
                                                 std::span<net::ParsedPacket>);
template void Filter::decide<net::Ipv4Address>(net::LaneList&, net::PacketBatch&,
                                               std::span<net::ParsedPacket>, Tick);
template void Filter::decide<net::Ipv6Address>(net::LaneList&, net::PacketBatch&,
                                               std::span<net::ParsedPacket>, Tick);

}  // namespace roost::firewall
