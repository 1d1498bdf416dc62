// Definitions of FamilyPath, for the sources that instantiate it: packets' connections, and what
// packets change. How they leave: roost/l3/egress.h. ICMP errors: family_errors_impl.h.
#pragma once

#include <algorithm>

#include "apps/lb/datapath/family_path.h"
#include "roost/net/rewrite.h"
#include "roost/net/tcp_segment.h"

namespace roost::lb {

template <class Address, class Tables>
FamilyPath<Address, Tables>::FamilyPath(Family<Address, Tables>& family, BasicState<Tables>& state,
                                        l3::Ingress& ingress, l3::Refusals& refusals,
                                        const node::FlowOwner& owner)
    : services_(family.services()),
      connections_(family.connections()),
      next_hops_(state.next_hops()),
      egress_(next_hops_, ingress.icmp_errors(), ingress.outbox(), state.config().gue_port),
      refusals_(refusals),
      owner_(owner) {}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::forward(const FamilyLanes<Address>& lanes,
                                          net::PacketBatch& batch,
                                          std::span<net::ParsedPacket> parsed, Tick now) {
  egress_.advance(now);
  if (lanes.count == 0) return;
  std::array<Match, net::kBatchLanesMax> matches;
  connections_.find(
      {std::span(lanes.keys).first(lanes.count), std::span(lanes.hashes).first(lanes.count)},
      std::span(matches));
  std::array<uint8_t, net::kBatchLanesMax> late;
  size_t late_count = 0;
  bool are_all_late = false;
  const auto passage_of = [&](size_t i) {
    const size_t lane = lanes.lanes[i];
    return Passage{batch.packets()[lane], parsed[lane], lanes.keys[i]};
  };
  for (size_t i = 0; i < lanes.count; ++i) {
    const Passage passage = passage_of(i);
    are_all_late |= gives_way(passage, matches[i]);
    if (are_all_late || matches[i].connection == nullptr) {
      late[late_count++] = static_cast<uint8_t>(i);
      ask_for_reply(passage);
    } else {
      batch.verdicts()[lanes.lanes[i]] = pass(passage, matches[i]);
    }
  }
  bool is_changed = false;
  for (const uint8_t i : std::span(late).first(late_count)) {
    const Passage passage = passage_of(i);
    Match match = is_changed ? connections_.find(passage.key) : matches[i];
    if (gives_way(passage, match)) {
      connections_.end(passage.key, *match.connection);
      is_changed = true;
      match = {};
    }
    batch.verdicts()[lanes.lanes[i]] =
        match.connection == nullptr ? begin_connection(passage, is_changed) : pass(passage, match);
  }
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::pass(const Passage& passage, const Match& match) {
  return match.sender == Sender::kClient ? to_backend(passage, *match.connection)
                                         : to_client(passage, match);
}

// The next connection of the same addresses and ports is a new one, and goes where those go: its
// port may have become another service's.
template <class Address, class Tables>
bool FamilyPath<Address, Tables>::gives_way(const Passage& passage, const Match& match) {
  if (match.connection == nullptr || match.sender != Sender::kClient) return false;
  if ((passage.parsed.tcp_flags & net::tcp::kSyn) == 0) return false;
  const Backend& backend = services_.backend(match.connection->owner);
  return conntrack::begins_anew(match.connection->state, passage.parsed.tcp_flags,
                                is_dsr(backend.mode)) &&
         (backend.weight == 0 || services_.find(passage.key) != backend.service);
}

// Where a new connection's reply entry will be is known as soon as its backend is.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::ask_for_reply(const Passage& passage) {
  const std::optional<uint32_t> service = services_.find(passage.key);
  if (!service || services_.service(*service).is_one_packet) return;
  const std::optional<uint32_t> backend =
      services_.pick_backend(*service, passage.key, is_midstream(passage));
  if (!backend) return;
  connections_.ask_for_reply(passage.key, Connection{.owner = static_cast<uint16_t>(*backend)});
}

// A packet of no connection: it creates one if it is for a service that has any. Nothing is changed
// before it is certain that the packet can leave, and that the answer could.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::begin_connection(const Passage& passage,
                                                               bool& is_changed) {
  const std::optional<uint32_t> service = services_.find(passage.key);
  if (!service) return begin_from_backend(passage, is_changed);
  // The answer would come back to us, and ours to it, for ever.
  if (next_hops_.is_ours(passage.key.source)) return drop(DropCause::kMartian);
  // Its first fragment did not create one; where none is created, it follows by the same hash.
  const bool is_alone = services_.service(*service).is_one_packet;
  if (passage.parsed.fragment.is_later() && !is_alone) return drop(DropCause::kNoFlow);
  if ((passage.parsed.tcp_flags & net::tcp::kRst) != 0) return drop(DropCause::kNoFlow);
  if (is_midstream(passage) && !services_.may_pick_up(*service)) return drop(DropCause::kNoFlow);
  const std::optional<uint32_t> backend_index =
      services_.pick_backend(*service, passage.key, is_midstream(passage));
  if (!backend_index) {
    return turn_away(passage, drop_cause::kNoBackend, services_.service(*service).refuses);
  }
  Backend& backend = services_.backend(*backend_index);
  if (!is_dsr(backend.mode) && !next_hops_.is_reachable(passage.key.source)) {
    return drop(DropCause::kNoNeighbour);
  }
  l3::Resolved resolved;
  if (!resolve_to_backend(passage, backend, added_bytes_of(backend.mode), resolved)) {
    return drop(resolved.refusal);
  }

  Connection connection{.owner = static_cast<uint16_t>(*backend_index)};
  if (is_alone) return send_to_backend(passage, connection, resolved);
  connection.begin(passage.key.protocol, net::read_tcp_segment(passage.packet, passage.parsed),
                   is_dsr(backend.mode));
  if (backend.sends_proxy_header) {
    if (!may_begin_stream(passage)) return drop(drop_cause::kNoProxyHeader);
    connection.flag = is_midstream(passage);  // its backend does not know it, and says so
  }
  const conntrack::CreateOutcome outcome =
      connections_.create_connection(passage.key, connection, services_.timeouts_of(backend));
  is_changed = true;
  switch (outcome) {
    case conntrack::CreateOutcome::kReplyTupleTaken:
      return drop(DropCause::kReplyTupleTaken);
    case conntrack::CreateOutcome::kNoPort:
      return drop(DropCause::kNoLocalPort);
    case conntrack::CreateOutcome::kFull:
      // Its backend is the same for all its packets even so, while the weights stay.
      if (is_dsr(backend.mode) && services_.is_by_hash(*service)) {
        return send_to_backend(passage, connection, resolved);
      }
      return drop(DropCause::kTableFull);
    case conntrack::CreateOutcome::kCreated:
      break;
  }
  ++backend.counters.flows;
  if (backend.sends_proxy_header && !is_midstream(passage)) {
    begin_stream(passage, connection);
    refuse_fast_open(passage);
  }
  return send_to_backend(passage, connection, resolved);
}

// A backend's packet of an unknown connection: one from before the start, or that took another way;
// or of none, where the service makes none. Which service follows from the backend's end, if that
// is one service's only.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::begin_from_backend(const Passage& passage,
                                                                 bool& is_changed) {
  const std::optional<uint32_t> index = services_.find_backend(passage.key);
  if (!index) {
    const bool is_from_backend = services_.is_backend_address(passage.key.source);
    const DropCause cause = is_from_backend ? DropCause::kNoFlow : drop_cause::kNoService;
    return turn_away(
        passage, cause,
        services_.refuses_closed_ports() && services_.is_virtual_address(passage.key.destination));
  }
  Backend& backend = services_.backend(*index);
  if (passage.packet.in_port != backend.side) return drop(drop_cause::kWrongSide);
  const bool is_alone = services_.service(backend.service).is_one_packet;
  const bool goes_on = (!passage.parsed.fragment.is_later() || is_alone) &&
                       (passage.parsed.tcp_flags & (net::tcp::kSyn | net::tcp::kRst)) == 0;
  if (!goes_on || next_hops_.is_ours(passage.key.destination)) return drop(DropCause::kNoFlow);

  const net::Endpoint<Address> client{passage.key.destination, passage.key.destination_port};
  const net::Endpoint<Address> service = backend.virtual_end_for(passage.key.source_port);
  const Key client_key{client.address, service.address,      client.port,
                       service.port,   passage.key.protocol, {}};
  // The client's connection of these ends is with another backend.
  if (!is_alone && connections_.find(client_key).connection != nullptr) {
    return drop(DropCause::kNoFlow);
  }
  Connection connection{.owner = static_cast<uint16_t>(*index)};
  l3::Resolved resolved;
  if (!resolve(passage, neighbour_of_client(connection, client.address), 0, resolved)) {
    return drop(resolved.refusal);
  }
  if (is_alone) return send_to_client(passage, client, backend, resolved);
  connection.begin_from_server(passage.key.protocol,
                               net::read_tcp_segment(passage.packet, passage.parsed));
  is_changed = true;
  if (connections_.create_connection(client_key, connection, services_.timeouts_of(backend)) !=
      conntrack::CreateOutcome::kCreated) {
    return drop(DropCause::kTableFull);
  }
  ++backend.counters.flows;
  return send_to_client(passage, client, backend, resolved);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::to_backend(const Passage& passage,
                                                         Connection& connection) {
  Backend& backend = services_.backend(connection.owner);
  if (backend.sends_proxy_header) return to_proxy_backend(passage, connection);
  const uint8_t flags = passage.parsed.tcp_flags;
  const bool is_new = conntrack::begins_anew(connection.state, flags, is_dsr(backend.mode));
  l3::Resolved resolved;
  if (!resolve_to_backend(passage, backend, added_bytes_of(backend.mode), resolved)) {
    return drop(resolved.refusal);
  }
  if (is_new) {
    ++backend.counters.flows;
    connections_.begin_anew(connection, passage.key.protocol,
                            net::read_tcp_segment(passage.packet, passage.parsed),
                            services_.timeouts_of(backend));
  } else {
    update(passage, connection, backend, Sender::kClient);
  }
  return send_to_backend(passage, connection, resolved);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::to_client(const Passage& passage,
                                                        const Match& match) {
  Connection& connection = *match.connection;
  Backend& backend = services_.backend(connection.owner);
  if (passage.packet.in_port != backend.side) return drop(drop_cause::kWrongSide);
  const bool is_translated = backend.sends_proxy_header && !passage.parsed.fragment.is_later();
  if (is_translated && !net::TcpEdit::is_possible(passage.packet, passage.parsed)) {
    return drop(DropCause::kSplitHeaders);
  }
  l3::Resolved resolved;
  if (!resolve_to_client(passage, connection, match.client.address, resolved)) {
    return drop(resolved.refusal);
  }
  if (is_translated) {
    const net::Endpoint<Address> virtual_end = backend.virtual_end_for(passage.key.source_port);
    translate_answer(passage, client_key_of(match, virtual_end), connection);
  }
  update(passage, connection, backend, Sender::kServer);
  return send_to_client(passage, match.client, backend, resolved);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::send_to_client(const Passage& passage,
                                                             const net::Endpoint<Address>& client,
                                                             Backend& backend,
                                                             const l3::Resolved& resolved) {
  net::rewrite_source(passage.packet, passage.parsed,
                      backend.virtual_end_for(passage.key.source_port));
  if (backend.mode == Mode::kFullnat) {
    net::rewrite_destination(passage.packet, passage.parsed, client);
  }
  return transmit(passage, backend, resolved);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::send_to_backend(const Passage& passage,
                                                              const Connection& connection,
                                                              const l3::Resolved& resolved) {
  Backend& backend = services_.backend(connection.owner);
  if (!is_dsr(backend.mode)) {
    net::rewrite_destination(passage.packet, passage.parsed,
                             backend.end_for(passage.key.destination_port));
  }
  if (backend.mode == Mode::kFullnat) {
    net::rewrite_source(passage.packet, passage.parsed, connections_.bound_end(connection));
    translate_for(backend, passage);
  }
  return transmit_to_backend(passage, passage.key, backend, resolved);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::transmit_to_backend(const Passage& passage,
                                                                  const Key& flow, Backend& backend,
                                                                  const l3::Resolved& resolved) {
  const std::optional<net::Encapsulation> kind = encapsulation_of(backend.mode);
  if (!kind) return transmit(passage, backend, resolved);
  const l3::TunnelEnd<Address> tunnel{*kind, backend.endpoint.address, services_.flow_hash(flow)};
  return transmit(passage, backend, resolved, &tunnel);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::transmit(const Passage& passage, Backend& backend,
                                                       const l3::Resolved& resolved,
                                                       const l3::TunnelEnd<Address>* tunnel) {
  bool is_cut = false;
  const net::LaneVerdict verdict =
      egress_.transmit(passage.packet, passage.parsed, resolved, tunnel, is_cut);
  if (!is_cut && (is_counting_ || resolved.waits)) {
    ++backend.counters.packets;
    backend.counters.bytes += passage.packet.total_bytes;
  }
  return verdict;
}

}  // namespace roost::lb
