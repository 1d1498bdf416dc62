// Definitions of FamilyPath, for the sources that instantiate it: packets that may begin a
// connection (docs/decisions/0056-connections-of-a-batch.md).
#pragma once

#include "apps/lb/datapath/family_path.h"
#include "roost/net/tcp_segment.h"

namespace roost::lb {

// Where a new connection's reply entry will be is known as soon as its backend is.
template <class Address, class Tables>
typename FamilyPath<Address, Tables>::Choice FamilyPath<Address, Tables>::choose(
    const Passage& passage) {
  Choice choice{kNone, kNone, {}};
  const std::optional<uint32_t> service = services_.find(passage.key);
  if (!service) return choice;
  choice.service = *service;
  if (services_.service(*service).is_one_packet) return choice;
  const std::optional<uint32_t> backend =
      services_.pick_backend(*service, passage.key, is_midstream(passage));
  if (!backend) return choice;
  choice.reply_hash =
      connections_.ask_for_reply(passage.key, Connection{.owner = static_cast<uint16_t>(*backend)});
  if (services_.is_by_hash(*service)) choice.backend = *backend;
  return choice;
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::decide_late(Decided& decided, std::span<const uint8_t> late) {
  for (const uint8_t i : late) {
    if (!joins(decided, i)) {
      begin_together(decided);
      decide_alone(decided, i);
    } else if (join(decided, i)) {
      // Whether the next packet may wait, too, depends on this one.
      if (leaving_[together_.count - 1].resolved.waits) begin_together(decided);
    }
  }
  begin_together(decided);
}

// In its turn.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::decide_alone(Decided& decided, size_t i) {
  const Passage passage = decided.passage(i);
  Match match = decided.is_changed ? connections_.find(passage.key) : decided.matches[i];
  if (gives_way(passage, match)) {
    connections_.end(passage.key, *match.connection);
    decided.is_changed = true;
    match = {};
  }
  decided.verdict(i) = match.connection == nullptr
                           ? begin_connection(passage, decided.choices[i], decided.is_changed)
                           : pass(passage, match);
}

// Whether only a connection of the same key, begun by a lane before, could change what becomes of
// this one. From midstream a connection may have another backend than by its SYN.
template <class Address, class Tables>
bool FamilyPath<Address, Tables>::joins(const Decided& decided, size_t i) const {
  const uint32_t backend = decided.choices[i].backend;
  if (decided.matches[i].connection != nullptr || backend == kNone) return false;
  const Passage passage = decided.passage(i);
  return services_.backend(backend).mode != Mode::kFullnat && !is_midstream(passage) &&
         (passage.parsed.tcp_flags & net::tcp::kRst) == 0 && !passage.parsed.fragment.is_later() &&
         connections_.has_room_for(together_.count + 1);
}

template <class Address, class Tables>
bool FamilyPath<Address, Tables>::join(Decided& decided, size_t i) {
  const Passage passage = decided.passage(i);
  const Choice& choice = decided.choices[i];
  const size_t at = together_.count;
  Leaving& leaving = leaving_[at] = {.lane = static_cast<uint8_t>(i), .resolved = {}};
  Connection& connection = together_.connections[at];
  if (!prepare(passage, choice, connection, leaving.resolved, decided.verdict(i))) return false;
  together_.keys[at] = passage.key;
  together_.hashes[at] = decided.lanes.hashes[i];
  together_.reply_hashes[at] = choice.reply_hash;
  together_.timeouts[at] =
      connection.timeout(services_.timeouts_of(services_.backend(connection.owner)));
  ++together_.count;
  return true;
}

template <class Address, class Tables>
void FamilyPath<Address, Tables>::begin_together(Decided& decided) {
  if (together_.count == 0) return;
  connections_.create_connections(together_);
  decided.is_changed = true;
  for (size_t at = 0; at < together_.count; ++at) {
    const Leaving& leaving = leaving_[at];
    if (together_.outcomes[at] == conntrack::CreateOutcome::kExisting) {
      decide_alone(decided, leaving.lane);
      continue;
    }
    decided.verdict(leaving.lane) =
        leave(decided.passage(leaving.lane), decided.choices[leaving.lane].service,
              together_.connections[at], leaving.resolved, together_.outcomes[at]);
  }
  together_.count = 0;
}

// A packet of no connection: it creates one if it is for a service that has any.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::begin_connection(const Passage& passage,
                                                               const Choice& choice,
                                                               bool& is_changed) {
  if (choice.service == kNone) return begin_from_backend(passage, is_changed);
  Connection connection;
  l3::Resolved resolved;
  net::LaneVerdict verdict;
  if (!prepare(passage, choice, connection, resolved, verdict)) return verdict;
  const conntrack::CreateOutcome outcome = connections_.create_connection(
      passage.key, connection, services_.timeouts_of(services_.backend(connection.owner)));
  is_changed = true;
  return leave(passage, choice.service, connection, resolved, outcome);
}

// Nothing is changed before it is certain that the packet can leave, and that the answer could.
template <class Address, class Tables>
bool FamilyPath<Address, Tables>::prepare(const Passage& passage, const Choice& choice,
                                          Connection& connection, l3::Resolved& resolved,
                                          net::LaneVerdict& verdict) {
  const auto refuse = [&](DropCause cause) {
    verdict = drop(cause);
    return false;
  };
  const uint32_t service = choice.service;
  // The answer would come back to us, and ours to it, for ever.
  if (next_hops_.is_ours(passage.key.source)) return refuse(DropCause::kMartian);
  // Its first fragment did not create one; where none is created, it follows by the same hash.
  const bool is_alone = services_.service(service).is_one_packet;
  if (passage.parsed.fragment.is_later() && !is_alone) return refuse(DropCause::kNoFlow);
  if ((passage.parsed.tcp_flags & net::tcp::kRst) != 0) return refuse(DropCause::kNoFlow);
  if (is_midstream(passage) && !services_.may_pick_up(service)) return refuse(DropCause::kNoFlow);
  uint32_t backend_index = choice.backend;
  if (backend_index == kNone) {
    const auto picked = services_.pick_backend(service, passage.key, is_midstream(passage));
    if (!picked) {
      verdict = turn_away(passage, drop_cause::kNoBackend, services_.service(service).refuses);
      return false;
    }
    backend_index = *picked;
  }
  Backend& backend = services_.backend(backend_index);
  if (!is_dsr(backend.mode) && !next_hops_.is_reachable(passage.key.source)) {
    return refuse(DropCause::kNoNeighbour);
  }
  if (!resolve_to_backend(passage, backend, added_bytes_of(backend.mode), resolved)) {
    return refuse(resolved.refusal);
  }

  connection = Connection();
  connection.owner = static_cast<uint16_t>(backend_index);
  if (is_alone) {
    verdict = send_to_backend(passage, connection, resolved);
    return false;
  }
  connection.begin(passage.key.protocol, net::read_tcp_segment(passage.packet, passage.parsed),
                   is_dsr(backend.mode));
  if (backend.sends_proxy_header) {
    if (!may_begin_stream(passage)) return refuse(drop_cause::kNoProxyHeader);
    connection.flag = is_midstream(passage);  // its backend does not know it, and says so
  }
  return true;
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::leave(const Passage& passage, uint32_t service,
                                                    const Connection& connection,
                                                    const l3::Resolved& resolved,
                                                    conntrack::CreateOutcome outcome) {
  Backend& backend = services_.backend(connection.owner);
  switch (outcome) {
    case conntrack::CreateOutcome::kReplyTupleTaken:
      return drop(DropCause::kReplyTupleTaken);
    case conntrack::CreateOutcome::kNoPort:
      return drop(DropCause::kNoLocalPort);
    case conntrack::CreateOutcome::kFull:
      // Its backend is the same for all its packets even so, while the weights stay.
      if (is_dsr(backend.mode) && services_.is_by_hash(service)) {
        return send_to_backend(passage, connection, resolved);
      }
      return drop(DropCause::kTableFull);
    case conntrack::CreateOutcome::kExisting:
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

}  // namespace roost::lb
