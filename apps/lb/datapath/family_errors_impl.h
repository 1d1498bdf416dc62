// The definition of FamilyPath::forward_error: ICMP errors about packets of connections, and of
// services that make none.
#pragma once

#include "apps/lb/datapath/family_path.h"
#include "apps/lb/datapath/steering.h"

namespace roost::lb {

template <class Address, class Tables>
typename FamilyPath<Address, Tables>::Match FamilyPath<Address, Tables>::match_alone(
    const Key& key, Connection& alone) {
  const std::optional<uint32_t> service = services_.find(key);
  if (service && !services_.service(*service).is_one_packet) return {};
  const std::optional<uint32_t> backend =
      service ? services_.pick_backend(*service, key) : services_.find_backend(key);
  if (!backend || !services_.service(services_.backend(*backend).service).is_one_packet) return {};
  alone.owner = static_cast<uint16_t>(*backend);
  if (service) return {&alone, Sender::kClient, {}};
  return {&alone, Sender::kServer, {key.destination, key.destination_port}};
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::forward_error(net::Packet& packet,
                                                            net::ParsedPacket& parsed) {
  net::IcmpError error;
  Key about;
  if (const auto cause = admit_error(packet, parsed, error, about)) return drop(*cause);
  if (const auto owner =
          other_owner_of(packet, about.reversed(), services_, connections_.ports(), owner_)) {
    return net::LaneVerdict::handoff(*owner);
  }
  Match match = connections_.find(about.reversed());
  Connection alone;
  if (match.connection == nullptr) match = match_alone(about.reversed(), alone);
  if (match.connection == nullptr) return drop(DropCause::kIcmpNoFlow);
  Backend& backend = services_.backend(match.connection->owner);
  const bool is_to_backend = match.sender == Sender::kClient;
  if (!is_to_backend && packet.in_port != backend.side) return drop(drop_cause::kWrongSide);
  const Passage passage{packet, parsed, about};
  l3::Resolved resolved;
  if (!resolve_error(passage, error, match, resolved)) return drop(resolved.refusal);
  const bool is_fullnat = backend.mode == Mode::kFullnat;
  if (!is_to_backend) {
    const net::Endpoint<Address> virtual_end = backend.virtual_end_for(about.destination_port);
    if (backend.sends_proxy_header) {
      translate_error(packet, error, client_key_of(match, virtual_end), *match.connection);
    }
    net::rewrite_error_destination(packet, error, virtual_end);
    if (is_fullnat) net::rewrite_error_source(packet, error, match.client);
  } else if (!is_dsr(backend.mode)) {
    net::rewrite_error_source(packet, error, backend.end_for(about.source_port));
    if (is_fullnat) {
      net::rewrite_error_destination(packet, error, connections_.bound_end(*match.connection));
      translate_error_for(backend, passage, error);
    }
  }
  return is_to_backend ? transmit_to_backend(passage, about, backend, resolved)
                       : transmit(passage, backend, resolved);
}

}  // namespace roost::lb
