// Definitions of FamilyPath, for whoever instantiates it: how a packet leaves, towards the backend
// or the client.
#pragma once

#include "apps/lb/family_path.h"
#include "roost/net/encapsulation.h"
#include "roost/net/fragment.h"
#include "roost/net/rewrite.h"

namespace roost::lb {

template <class Address, class Tables>
node::NeighbourIndex FamilyPath<Address, Tables>::still_or_found(node::NeighbourIndex& neighbour,
                                                                 const Address& address) {
  if (neighbour == node::kNoNeighbour || !next_hops_.neighbours().is_still(neighbour, address)) {
    neighbour = next_hops_.find(address, now_);
  }
  return neighbour;
}

// Whether the packet can leave by this neighbour, now or after its answer.
template <class Address, class Tables>
bool FamilyPath<Address, Tables>::prepare(const Passage& passage, node::NeighbourIndex neighbour,
                                          std::optional<net::Encapsulation> encapsulation,
                                          Departure& departure) {
  const auto refuse = [&](DropCause cause) {
    departure.refusal = cause;
    return false;
  };
  if (neighbour == node::kNoNeighbour) return refuse(DropCause::kNoNeighbour);
  departure.neighbour = neighbour;
  departure.encapsulation = encapsulation;
  const node::Interface& out = next_hops_.interface(next_hops_.neighbours().port(neighbour));
  const net::Packet& packet = passage.packet;
  const size_t added_bytes = bytes_of(encapsulation);
  const bool is_too_big = passage.parsed.ip_bytes + added_bytes > out.mtu;
  if (is_too_big && !net::may_be_cut(packet, passage.parsed)) {
    answers_.too_big(packet, passage.parsed, static_cast<uint16_t>(out.mtu - added_bytes));
    return refuse(DropCause::kTooBig);
  }
  const size_t tag_bytes_before = passage.parsed.vlan.count * net::vlan::kTagBytes;
  const size_t bytes_after = out.vlan.count * net::vlan::kTagBytes + added_bytes;
  if (bytes_after > tag_bytes_before + packet.headroom) return refuse(DropCause::kNoHeadroom);
  const size_t frame_bytes = packet.total_bytes - tag_bytes_before + bytes_after;
  switch (next_hops_.neighbours().use(neighbour, frame_bytes, now_, outbox_)) {
    case node::Way::kKnown:
      return true;
    case node::Way::kWaits:
      // Only what is in one buffer and leaves in one piece can wait.
      if (is_too_big || packet.contiguous_bytes != packet.total_bytes) break;
      departure.waits = true;
      return true;
    case node::Way::kQueueFull:
      break;
    case node::Way::kFailed:
      return refuse(DropCause::kNeighbourFailed);
  }
  return refuse(DropCause::kNeighbourQueueFull);
}

template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::send_to_backend(const Passage& passage,
                                                              const Connection& connection,
                                                              const Departure& departure) {
  Backend& backend = services_.backend(connection.backend);
  if (!is_one_sided(backend.mode)) {
    net::rewrite_destination(passage.packet, passage.parsed, backend.endpoint);
  }
  if (backend.mode == Mode::kFullnat) {
    net::rewrite_source(passage.packet, passage.parsed, connections_.local_endpoint(connection));
  }
  return leave(passage, backend, departure);
}

// What every packet of a connection gets on its way out. One that waits leaves later, by the
// outbox.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::leave(const Passage& passage, Backend& backend,
                                                    const Departure& departure) {
  node::Neighbours& neighbours = next_hops_.neighbours();
  const uint16_t out_port = neighbours.port(departure.neighbour);
  const node::Interface& out = next_hops_.interface(out_port);
  net::decrement_ttl(passage.packet, passage.parsed);
  const bool is_tagged = net::rewrite_vlan_tags(passage.packet, passage.parsed, out.vlan);
  ROOST_ASSERT(is_tagged);
  net::rewrite_macs(passage.packet,
                    {.source = out.mac, .destination = neighbours.mac(departure.neighbour)});
  if (passage.parsed.ip_bytes + bytes_of(departure.encapsulation) > out.mtu) {
    return leave_in_pieces(passage, backend, departure);
  }
  if (departure.encapsulation) encapsulate(passage, backend, departure);
  if (is_counting_ || departure.waits) {
    ++backend.counters.packets;
    backend.counters.bytes += passage.packet.total_bytes;
  }
  if (!departure.waits) return net::LaneVerdict::forward(out_port);
  neighbours.keep(departure.neighbour, {passage.packet.data, passage.packet.total_bytes});
  return net::LaneVerdict::consume();
}

// The packet itself goes nowhere; its pieces are the balancer's own.
template <class Address, class Tables>
net::LaneVerdict FamilyPath<Address, Tables>::leave_in_pieces(const Passage& passage,
                                                              const Backend& backend,
                                                              const Departure& departure) {
  const uint16_t out_port = next_hops_.neighbours().port(departure.neighbour);
  const size_t added_bytes = bytes_of(departure.encapsulation);
  const auto mtu = static_cast<uint16_t>(next_hops_.interface(out_port).mtu - added_bytes);
  net::Piece piece = net::piece_at(passage.packet, passage.parsed, 0, mtu);
  while (piece.bytes != 0) {
    const size_t frame_bytes = net::frame_bytes_of(passage.parsed, piece);
    const auto frame = outbox_.reserve(out_port, added_bytes + frame_bytes);
    if (frame.empty()) break;  // without this one, the others are worth nothing
    net::write_piece(passage.packet, passage.parsed, piece, frame.subspan(added_bytes));
    if (departure.encapsulation) {
      const auto bytes = static_cast<uint32_t>(frame_bytes);
      net::Packet inner{frame.data() + added_bytes, bytes, bytes,
                        static_cast<uint32_t>(added_bytes)};
      net::ParsedPacket parsed = passage.parsed;
      parsed.ip_bytes = piece.header_bytes + piece.bytes;
      encapsulate({inner, parsed, passage.key}, backend, departure);
    }
    piece = net::piece_at(passage.packet, passage.parsed, piece.offset + piece.bytes, mtu);
  }
  return net::LaneVerdict::consume();
}

// There is room: prepare() has seen to it, and who cuts reserves it.
template <class Address, class Tables>
void FamilyPath<Address, Tables>::encapsulate(const Passage& passage, const Backend& backend,
                                              const Departure& departure) {
  const uint16_t out_port = next_hops_.neighbours().port(departure.neighbour);
  const bool is_done =
      net::encapsulate(passage.packet, passage.parsed,
                       net::Tunnel<Address>{.kind = *departure.encapsulation,
                                            .source = tunnel_sources_[out_port],
                                            .destination = backend.endpoint.address,
                                            .gue_port = gue_port_,
                                            .flow_hash = services_.flow_hash(passage.key),
                                            .identification = identification_++});
  ROOST_ASSERT(is_done);
}

}  // namespace roost::lb
