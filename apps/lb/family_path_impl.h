// Definitions of FamilyPath, for whoever instantiates it: whose packets are, and what they change.
// How they leave: family_departure_impl.h. ICMP errors: family_errors_impl.h.
#pragma once

#include <algorithm>
#include <ranges>

#include "apps/lb/family_path.h"
#include "roost/net/rewrite.h"
#include "roost/net/tcp_segment.h"

namespace roost::lb {

// The first address of the family that each port has.
template <class Address>
[[nodiscard]] std::vector<Address> tunnel_sources(const NextHops& next_hops, size_t port_count) {
  std::vector<Address> sources(port_count);
  for (size_t port = 0; port < port_count; ++port) {
    const auto& addresses = next_hops.interface(static_cast<uint16_t>(port)).addresses;
    for (const net::IpPrefix& own : addresses | std::views::reverse) {
      sources[port] = own.address.as<Address>().value_or(sources[port]);
    }
  }
  return sources;
}

template <class Address, class Tables>
FamilyPath<Address, Tables>::FamilyPath(Family<Address, Tables>& family, NextHops& next_hops,
                                        const Config& config, IcmpAnswers& answers,
                                        net::Outbox& outbox, const node::FlowOwner& owner)
    : services_(family.services()),
      connections_(family.connections()),
      next_hops_(next_hops),
      timeouts_(config.timeouts),
      answers_(answers),
      outbox_(outbox),
      owner_(owner),
      tunnel_sources_(tunnel_sources<Address>(next_hops, config.ports.size())),
      gue_port_(config.gue_port) {}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::forward(const FamilyLanes<Address>& lanes,
                                          net::PacketBatch& batch,
                                          std::span<net::ParsedPacket> parsed, Tick now) {
  now_ = now;
  if (lanes.count == 0) return;
  std::array<Match, net::kBatchLanesMax> matches;
  connections_.find(std::span(lanes.keys).first(lanes.count), std::span(matches));
  bool is_changed = false;
  for (size_t i = 0; i < lanes.count; ++i) {
    const size_t lane = lanes.lanes[i];
    const Passage passage{batch.packets()[lane], parsed[lane], lanes.keys[i]};
    const Match match = is_changed ? connections_.find(passage.key) : matches[i];
    if (match.connection == nullptr) {
      batch.verdicts()[lane] = begin_connection(passage, is_changed);
    } else if (match.sender == Sender::kClient) {
      batch.verdicts()[lane] = to_backend(passage, *match.connection, is_changed);
    } else {
      batch.verdicts()[lane] = to_client(passage, match);
    }
  }
}

// A packet of nobody's connection: it makes one if it is for a service. Nothing is changed before
// it is certain that the packet can leave, and that the answer could.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::begin_connection(const Passage& passage,
                                                               bool& is_changed) {
  const std::optional<uint32_t> service = services_.find(passage.key);
  if (!service) return begin_from_backend(passage, is_changed);
  // The answer would come back to us, and ours to it, for ever.
  if (next_hops_.is_ours(passage.key.source)) return drop(DropCause::kMartian);
  // Its first fragment did not make one.
  if (passage.parsed.fragment.is_later()) return drop(DropCause::kNoFlow);
  if ((passage.parsed.tcp_flags & net::tcp::kRst) != 0) return drop(DropCause::kNoFlow);
  const bool is_midstream = passage.key.protocol == net::IpProtocol::kTcp &&
                            (passage.parsed.tcp_flags & net::tcp::kSyn) == 0;
  const std::optional<uint32_t> backend_index =
      services_.pick_backend(*service, passage.key, is_midstream);
  if (!backend_index) return drop(DropCause::kNoBackend);
  Backend& backend = services_.backend(*backend_index);
  if (!is_one_sided(backend.mode) && !next_hops_.is_reachable(passage.key.source)) {
    return drop(DropCause::kNoNeighbour);
  }
  Departure departure;
  if (!prepare(passage, neighbour_of(backend), encapsulation_of(backend.mode), departure)) {
    return drop(departure.refusal);
  }

  Connection connection{.backend = static_cast<uint16_t>(*backend_index)};
  connection.begin(passage.key.protocol, net::read_tcp_segment(passage.packet, passage.parsed),
                   is_one_sided(backend.mode));
  const MakeOutcome outcome = connections_.make(passage.key, connection, timeouts_);
  is_changed = true;
  switch (outcome) {
    case MakeOutcome::kReplyTupleTaken:
      return drop(DropCause::kReplyTupleTaken);
    case MakeOutcome::kNoLocalPort:
      return drop(DropCause::kNoLocalPort);
    case MakeOutcome::kFull:
      // Its backend is the same for all its packets even so, while the weights stay.
      if (is_one_sided(backend.mode)) return send_to_backend(passage, connection, departure);
      return drop(DropCause::kTableFull);
    case MakeOutcome::kMade:
      break;
  }
  ++backend.counters.flows;
  return send_to_backend(passage, connection, departure);
}

// A backend speaks in a connection that we do not know: it was there before we were started, or
// took another way. Whose it is follows from the backend's end, if that is one service's only.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::begin_from_backend(const Passage& passage,
                                                                 bool& is_changed) {
  const std::optional<uint32_t> index = services_.find_backend(passage.key);
  if (!index) {
    const bool is_from_backend = services_.is_backend_address(passage.key.source);
    return drop(is_from_backend ? DropCause::kNoFlow : DropCause::kNoService);
  }
  Backend& backend = services_.backend(*index);
  if (passage.packet.in_port != backend.side) return drop(DropCause::kWrongSide);
  const bool goes_on = !passage.parsed.fragment.is_later() &&
                       (passage.parsed.tcp_flags & (net::tcp::kSyn | net::tcp::kRst)) == 0;
  if (!goes_on || next_hops_.is_ours(passage.key.destination)) return drop(DropCause::kNoFlow);

  const net::Endpoint<Address> client{passage.key.destination, passage.key.destination_port};
  const net::Endpoint<Address>& service = backend.virtual_endpoint;
  const Key client_key{client.address, service.address,      client.port,
                       service.port,   passage.key.protocol, {}};
  // The client's connection of these ends is with another backend.
  if (connections_.find(client_key).connection != nullptr) return drop(DropCause::kNoFlow);
  Connection connection{.backend = static_cast<uint16_t>(*index)};
  connection.begin_from_backend(passage.key.protocol,
                                net::read_tcp_segment(passage.packet, passage.parsed));
  Departure departure;
  if (!prepare(passage, neighbour_of_client(connection, client.address), {}, departure)) {
    return drop(departure.refusal);
  }
  is_changed = true;
  if (connections_.make(client_key, connection, timeouts_) != MakeOutcome::kMade) {
    return drop(DropCause::kTableFull);
  }
  ++backend.counters.flows;
  return send_to_client(passage, client, backend, departure);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::to_backend(const Passage& passage,
                                                         Connection& connection, bool& is_changed) {
  Backend& backend = services_.backend(connection.backend);
  const uint8_t flags = passage.parsed.tcp_flags;
  const bool is_new = begins_anew(connection.state, flags, is_one_sided(backend.mode));
  // The next connection of the same addresses and ports is a new one, and goes where those go.
  if (is_new && backend.weight == 0) {
    connections_.end(passage.key, connection);
    is_changed = true;
    return begin_connection(passage, is_changed);
  }
  Departure departure;
  if (!prepare(passage, neighbour_of(backend), encapsulation_of(backend.mode), departure)) {
    return drop(departure.refusal);
  }
  if (is_new) {
    connections_.count_restart(connection);
    ++backend.counters.flows;
    connection.begin(passage.key.protocol, net::read_tcp_segment(passage.packet, passage.parsed),
                     is_one_sided(backend.mode));
    connections_.refresh(connection, connection.timeout(timeouts_));
  } else {
    hear(passage, connection, Sender::kClient, backend);
  }
  return send_to_backend(passage, connection, departure);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::to_client(const Passage& passage,
                                                        const Match& match) {
  Connection& connection = *match.connection;
  Backend& backend = services_.backend(connection.backend);
  if (passage.packet.in_port != backend.side) return drop(DropCause::kWrongSide);
  Departure departure;
  if (!prepare(passage, neighbour_of_client(connection, match.client.address), {}, departure)) {
    return drop(departure.refusal);
  }
  hear(passage, connection, Sender::kBackend, backend);
  return send_to_client(passage, match.client, backend, departure);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::send_to_client(const Passage& passage,
                                                             const net::Endpoint<Address>& client,
                                                             Backend& backend,
                                                             const Departure& departure) {
  net::rewrite_source(passage.packet, passage.parsed, backend.virtual_endpoint);
  if (backend.mode == Mode::kFullnat) {
    net::rewrite_destination(passage.packet, passage.parsed, client);
  }
  return leave(passage, backend, departure);
}

// A later fragment has no flags, and says nothing of the connection's progress. Until TCP is
// confirmed, nothing but its end changes how long it has left, so that nobody can keep one alive
// who is not its end.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::hear(const Passage& passage, Connection& connection,
                                       Sender sender, const Backend& backend) {
  const bool was_over = is_over(connection.state, false);
  if (!passage.parsed.fragment.is_later()) {
    connection.hear(sender, net::read_tcp_segment(passage.packet, passage.parsed),
                    is_one_sided(backend.mode));
  }
  TickCount timeout = connection.timeout(timeouts_);
  const bool is_unconfirmed_tcp =
      connection.state != ConnectionState::kUdp && connection.contact != Contact::kConfirmed;
  if (is_unconfirmed_tcp) {
    if (was_over || !is_over(connection.state, false)) return;
    timeout = std::min(timeout, connections_.ticks_left(connection));
  }
  connections_.refresh(connection, timeout);
}

}  // namespace roost::lb
