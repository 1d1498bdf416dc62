#include "apps/lb/family_path.h"

#include "roost/net/fragment.h"
#include "roost/net/rewrite.h"

namespace roost::lb {

namespace {

net::LaneVerdict drop(DropCause cause) {
  return net::LaneVerdict::drop(static_cast<uint8_t>(cause));
}

}  // namespace

template <class Address>
void FamilyPath<Address>::forward(const FamilyLanes<Address>& lanes, net::PacketBatch& batch,
                                  std::span<net::ParsedPacket> parsed) {
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
      batch.verdicts()[lane] = to_client(passage, *match.connection);
    }
  }
}

// A packet of nobody's connection: it makes one if it is for a service. Nothing is changed before
// it is certain that the packet can leave, and that the answer could.
template <class Address>
net::LaneVerdict FamilyPath<Address>::begin_connection(const Passage& passage, bool& is_changed) {
  const std::optional<uint32_t> service = services_.find(passage.key);
  if (!service) {
    const bool is_from_backend = services_.is_backend_address(passage.key.source);
    return drop(is_from_backend ? DropCause::kNoFlow : DropCause::kNoService);
  }
  if ((passage.parsed.tcp_flags & net::tcp::kRst) != 0) return drop(DropCause::kNoFlow);
  const std::optional<uint32_t> backend_index = services_.pick_backend(*service, passage.key);
  if (!backend_index) return drop(DropCause::kNoBackend);
  const std::optional<node::NextHop> client_hop = next_hops_.find(passage.key.source);
  if (!client_hop) return drop(DropCause::kNoNeighbour);
  Backend& backend = services_.backend(*backend_index);
  if (const auto refused = refuse(passage, backend.hop)) return *refused;

  const ConnectionState state = first_state(passage.key.protocol, passage.parsed.tcp_flags);
  const Connection connection{*backend_index, *client_hop, state};
  switch (connections_.make(passage.key, connection, timeout(state))) {
    case MakeOutcome::kReplyTupleTaken:
      return drop(DropCause::kReplyTupleTaken);
    case MakeOutcome::kFull:
      is_changed = true;
      return drop(DropCause::kTableFull);
    case MakeOutcome::kMade:
      break;
  }
  is_changed = true;
  ++backend.counters.flows;
  return send_to_backend(passage, backend);
}

template <class Address>
net::LaneVerdict FamilyPath<Address>::to_backend(const Passage& passage, Connection& connection,
                                                 bool& is_changed) {
  Backend& backend = services_.backend(connection.backend);
  const uint8_t flags = passage.parsed.tcp_flags;
  // The next connection of the same addresses and ports is a new one, and goes where those go.
  if (begins_anew(connection.state, flags) && backend.weight == 0) {
    connections_.end(passage.key, connection);
    is_changed = true;
    return begin_connection(passage, is_changed);
  }
  if (const auto refused = refuse(passage, backend.hop)) return *refused;
  const ConnectionState state = next_state(connection.state, Sender::kClient, flags);
  if (begins_anew(connection.state, flags)) {
    connections_.restart(connection, state);
    ++backend.counters.flows;
  }
  connection.state = state;
  connections_.refresh(connection, timeout(state));
  return send_to_backend(passage, backend);
}

template <class Address>
net::LaneVerdict FamilyPath<Address>::to_client(const Passage& passage, Connection& connection) {
  const node::NextHop hop = connection.client_hop;
  if (const auto refused = refuse(passage, hop)) return *refused;
  connection.state = next_state(connection.state, Sender::kBackend, passage.parsed.tcp_flags);
  connections_.refresh(connection, timeout(connection.state));
  Backend& backend = services_.backend(connection.backend);
  net::rewrite_source(passage.packet, passage.parsed, backend.virtual_endpoint);
  return leave(passage, hop, backend);
}

template <class Address>
std::optional<net::LaneVerdict> FamilyPath<Address>::refuse(const Passage& passage,
                                                            const node::NextHop& hop) {
  const node::Interface& out = next_hops_.interface(hop.out_port);
  if (passage.parsed.ip_bytes > out.mtu && !net::may_be_cut(passage.packet, passage.parsed)) {
    answers_.too_big(passage.packet, passage.parsed, out.mtu);
    return drop(DropCause::kTooBig);
  }
  const size_t tags_before = passage.parsed.vlan.count;
  if (out.vlan.count > tags_before &&
      (out.vlan.count - tags_before) * net::vlan::kTagBytes > passage.packet.headroom) {
    return drop(DropCause::kNoHeadroom);
  }
  return {};
}

template <class Address>
net::LaneVerdict FamilyPath<Address>::send_to_backend(const Passage& passage, Backend& backend) {
  net::rewrite_destination(passage.packet, passage.parsed, backend.endpoint);
  return leave(passage, backend.hop, backend);
}

// What every forwarded packet gets on its way out.
template <class Address>
net::LaneVerdict FamilyPath<Address>::leave(const Passage& passage, const node::NextHop& hop,
                                            Backend& backend) {
  const node::Interface& out = next_hops_.interface(hop.out_port);
  net::decrement_ttl(passage.packet, passage.parsed);
  const bool is_tagged = net::rewrite_vlan_tags(passage.packet, passage.parsed, out.vlan);
  ROOST_ASSERT(is_tagged);
  net::rewrite_macs(passage.packet, {.source = out.mac, .destination = hop.destination});
  if (passage.parsed.ip_bytes > out.mtu) return leave_in_pieces(passage, hop.out_port, out.mtu);
  ++backend.counters.packets;
  backend.counters.bytes += passage.packet.total_bytes;
  return net::LaneVerdict::forward(hop.out_port);
}

// The packet itself goes nowhere; its pieces are the balancer's own.
template <class Address>
net::LaneVerdict FamilyPath<Address>::leave_in_pieces(const Passage& passage, uint16_t out_port,
                                                      uint16_t mtu) {
  net::Piece piece = net::piece_at(passage.packet, passage.parsed, 0, mtu);
  while (piece.bytes != 0) {
    const auto frame = outbox_.reserve(out_port, net::frame_bytes_of(passage.parsed, piece));
    if (frame.empty()) break;  // without this one, the others are worth nothing
    net::write_piece(passage.packet, passage.parsed, piece, frame);
    piece = net::piece_at(passage.packet, passage.parsed, piece.offset + piece.bytes, mtu);
  }
  return net::LaneVerdict::consume();
}

template class FamilyPath<net::Ipv4Address>;
template class FamilyPath<net::Ipv6Address>;

}  // namespace roost::lb
