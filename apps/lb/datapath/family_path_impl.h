// Definitions of FamilyPath, for the sources that instantiate it: packets of connections, and what
// they change. Those that begin one: family_beginnings_impl.h. How packets leave:
// roost/l3/egress.h. ICMP errors: family_errors_impl.h.
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
void FamilyPath<Address, Tables>::forward(const conntrack::AskedLanes<Address>& lanes,
                                          net::PacketBatch& batch,
                                          std::span<net::ParsedPacket> parsed, Tick now) {
  egress_.advance(now);
  if (lanes.count == 0) return;
  std::array<Match, net::kBatchLanesMax> matches;
  std::array<Choice, net::kBatchLanesMax> choices;
  connections_.find(lanes.to_find(), std::span(matches));
  std::array<uint8_t, net::kBatchLanesMax> late;
  size_t late_count = 0;
  bool are_all_late = false;
  for (size_t i = 0; i < lanes.count; ++i) {
    const Passage passage = passage_of(lanes, batch, parsed, i);
    are_all_late |= gives_way(passage, matches[i]);
    if (are_all_late || matches[i].connection == nullptr) {
      late[late_count++] = static_cast<uint8_t>(i);
      choices[i] = choose(passage);
    } else {
      batch.verdicts()[lanes.lanes[i]] = pass(passage, matches[i]);
    }
  }
  if (late_count == 0) return;
  Decided decided{lanes, batch, parsed, matches, choices};
  decide_late(decided, std::span(late).first(late_count));
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
