// The way of a family's packets through the load balancer, after admission: its connection, and its
// egress, towards the backend or back to the client.
//
// A batch is looked up at once. Then the lanes of known connections act, and after them, each
// group in its order, those that may begin one. What the lookup has found holds for all of the
// first: they change no connection's place. Of the others those whose fate depends on no more than
// their key begin their connections together; of the rest only the first to act has a valid answer,
// and those after it look up singly, so that a SYN and its retransmission, or a request and its
// reply, in one batch do what they would do one by one. Frames leave in the batch's order whatever
// their lanes waited for. Where a packet ends a known connection to begin another one in its place,
// all lanes after it are late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/lb/datapath/drop_cause.h"
#include "apps/lb/datapath/proxy_stream.h"
#include "apps/lb/datapath/state.h"
#include "roost/conntrack/asked_lanes.h"
#include "roost/expiry/tick.h"
#include "roost/l3/egress.h"
#include "roost/l3/ingress.h"
#include "roost/l3/refusals.h"
#include "roost/net/encapsulation.h"
#include "roost/net/flow_key.h"
#include "roost/net/icmp_error.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/tcp_edit.h"
#include "roost/net/tcp_segment.h"
#include "roost/node/flow_owner.h"

namespace roost::lb {

// The definitions are in family_path_impl.h, family_beginnings_impl.h, family_proxy_impl.h,
// family_errors_impl.h and family_translation_impl.h. The lanes of IPv6 may hold packets of its
// connections that IPv4 backends sent, under keys of IPv4-mapped addresses
// (docs/decisions/0038-ipv6-in-front.md).
template <class Address, class Tables = conntrack::OwnTables>
class FamilyPath {
 public:
  // All must outlive this object.
  FamilyPath(Family<Address, Tables>& family, BasicState<Tables>& state, l3::Ingress& ingress,
             l3::Refusals& refusals, const node::FlowOwner& owner);

  // Decides these lanes of the batch; `parsed` has one element a lane of the batch.
  void forward(const conntrack::AskedLanes<Address>& lanes, net::PacketBatch& batch,
               std::span<net::ParsedPacket> parsed, Tick now);

  // Whether what is forwarded counts as a backend's. Not so frames that the balancer sends itself,
  // which are counted as such; one that has to wait for its neighbour does.
  void set_counting(bool is_counting) { is_counting_ = is_counting; }

  // Decides one ICMP message, which parsed as kUnsupportedProtocol; of this family, or of IPv4 as
  // the lanes' packets may be. An error about a packet of a live connection is translated and goes
  // to the end that sent that packet: from the backend's side to the client, from the client's side
  // to the backend. It does not refresh the connection, because its source can be spoofed. Of
  // another worker's connection it is handed off.
  [[nodiscard]] net::LaneVerdict forward_error(net::Packet& packet, net::ParsedPacket& parsed);

 private:
  using Key = net::FlowKey<Address>;
  using Match = typename ConnectionTable<Address, Tables>::Match;
  using Backend = typename ServiceTable<Address>::Backend;

  // One packet on its way.
  struct Passage {
    net::Packet& packet;
    net::ParsedPacket& parsed;
    const Key& key;
  };

  [[nodiscard]] static Passage passage_of(const conntrack::AskedLanes<Address>& lanes,
                                          net::PacketBatch& batch,
                                          std::span<net::ParsedPacket> parsed, size_t i) {
    return {batch.packets()[lanes.lanes[i]], parsed[lanes.lanes[i]], lanes.keys[i]};
  }

  // Where a packet of no connection goes, as far as that is known before its turn.
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Choice {
    uint32_t service;  // kNone: no service's
    uint32_t backend;  // kNone: not known
    Hash64 reply_hash;
  };
  // The lanes that forward() decides, some of which are late.
  struct Decided {
    const conntrack::AskedLanes<Address>& lanes;
    net::PacketBatch& batch;
    std::span<net::ParsedPacket> parsed;
    std::span<const Match> matches;
    std::span<Choice> choices;  // of those that are late
    bool is_changed = false;    // connections have come or gone, so that a match may be none

    [[nodiscard]] Passage passage(size_t i) const { return passage_of(lanes, batch, parsed, i); }
    [[nodiscard]] net::LaneVerdict& verdict(size_t i) const {
      return batch.verdicts()[lanes.lanes[i]];
    }
  };
  // One that begins its connection together with others.
  struct Leaving {
    uint8_t lane;
    l3::Resolved resolved;
  };

  // A packet of a known connection.
  net::LaneVerdict pass(const Passage& passage, const Match& match);
  // Whether the packet begins a connection in the place of one that is over, with another backend.
  [[nodiscard]] bool gives_way(const Passage& passage, const Match& match);
  // Whether the packet is TCP's and begins nothing.
  [[nodiscard]] static bool is_midstream(const Passage& passage) {
    return passage.key.protocol == net::IpProtocol::kTcp &&
           (passage.parsed.tcp_flags & net::tcp::kSyn) == 0;
  }
  // Also asks for the memory that its connection's entries will be written to.
  [[nodiscard]] Choice choose(const Passage& passage);
  void decide_late(Decided& decided, std::span<const uint8_t> late);
  void decide_alone(Decided& decided, size_t i);
  // Whether the lane may begin its connection together with others.
  [[nodiscard]] bool joins(const Decided& decided, size_t i) const;
  // Prepares it; false: it is decided, and begins none.
  [[nodiscard]] bool join(Decided& decided, size_t i);
  // Those that have joined act.
  void begin_together(Decided& decided);
  // Drops a packet that nothing here serves; if it is refused, its sender is told.
  net::LaneVerdict turn_away(const Passage& passage, DropCause cause, bool is_refused) {
    if (is_refused) refusals_.refuse(passage.packet, passage.parsed);
    return drop(cause);
  }
  net::LaneVerdict begin_connection(const Passage& passage, const Choice& choice, bool& is_changed);
  // Whether a service's packet begins a connection, and which; else the verdict is its own.
  [[nodiscard]] bool prepare(const Passage& passage, const Choice& choice, Connection& connection,
                             l3::Resolved& resolved, net::LaneVerdict& verdict);
  // What becomes of a prepared packet whose connection was to be created.
  net::LaneVerdict leave(const Passage& passage, uint32_t service, const Connection& connection,
                         const l3::Resolved& resolved, conntrack::CreateOutcome outcome);
  net::LaneVerdict begin_from_backend(const Passage& passage, bool& is_changed);
  // The match of a packet of a one-packet service, or of its answer, as if it had a connection:
  // `alone`, which is this packet's only.
  [[nodiscard]] Match match_alone(const Key& key, Connection& alone);
  net::LaneVerdict to_backend(const Passage& passage, Connection& connection);
  net::LaneVerdict to_client(const Passage& passage, const Match& match);

  // The same of a service whose backends are told the client's address in front of its data
  // (docs/decisions/0037-proxy-protocol.md).
  net::LaneVerdict to_proxy_backend(const Passage& passage, Connection& connection);
  // Whether a stream with a header may begin by this packet.
  [[nodiscard]] static bool may_begin_stream(const Passage& passage);
  // The client's SYN has begun the connection, and so its stream, as far as we know.
  void begin_stream(const Passage& passage, const Connection& connection);
  [[nodiscard]] ProxyStream stream_of(const Key& client_key, const Connection& connection);
  static void refuse_fast_open(const Passage& passage);
  static void leave_room_for_header(net::TcpEdit& edit);
  // A backend's numbers become the client's.
  void translate_answer(const Passage& passage, const Key& client_key, Connection& connection);
  void translate_error(const net::Packet& packet, const net::IcmpError& error,
                       const Key& client_key, const Connection& connection);
  [[nodiscard]] static Key client_key_of(const Match& match,
                                         const net::Endpoint<Address>& virtual_end) {
    return {match.client.address, virtual_end.address,   match.client.port,
            virtual_end.port,     net::IpProtocol::kTcp, {}};
  }

  // Whether the packet can leave, decided before anything is changed.
  [[nodiscard]] bool resolve(const Passage& passage, l3::NeighbourIndex neighbour,
                             ptrdiff_t added_bytes, l3::Resolved& resolved) {
    return egress_.resolve(passage.packet, passage.parsed, neighbour, added_bytes, resolved);
  }
  // The same on its way to the backend, behind which these bytes are added by us; and to the
  // client, for whom a packet of IPv4 becomes one of IPv6 at once.
  [[nodiscard]] bool resolve_to_backend(const Passage& passage, Backend& backend,
                                        size_t added_bytes, l3::Resolved& resolved);
  [[nodiscard]] bool resolve_to_client(const Passage& passage, Connection& connection,
                                       const Address& client, l3::Resolved& resolved);
  // Whether a packet can grow by so much before its tags go or come.
  [[nodiscard]] static bool has_headroom(const Passage& passage, ptrdiff_t growth,
                                         l3::Resolved& resolved) {
    resolved.refusal = DropCause::kNoHeadroom;
    return growth <= static_cast<ptrdiff_t>(passage.packet.headroom);
  }
  // Whether an ICMP error can leave, in the version of the end that it goes to. What IPv4 says is
  // said by IPv6 afterwards.
  [[nodiscard]] bool resolve_error(const Passage& passage, net::IcmpError& error,
                                   const Match& match, l3::Resolved& resolved);
  // Why an ICMP message is no error that can be followed; nothing if `error` and `about` hold.
  [[nodiscard]] std::optional<DropCause> admit_error(const net::Packet& packet,
                                                     const net::ParsedPacket& parsed,
                                                     net::IcmpError& error, Key& about) const;
  // What was resolved with a growth, and is of IPv6 still; if the backend speaks IPv4.
  void translate_for(const Backend& backend, const Passage& passage);
  void translate_error_for(const Backend& backend, const Passage& passage, net::IcmpError& error);

  // What a mode's tunnel adds to a packet.
  [[nodiscard]] static size_t added_bytes_of(Mode mode) {
    const std::optional<net::Encapsulation> kind = encapsulation_of(mode);
    return kind ? l3::Egress<Address>::bytes_of(*kind) : 0;
  }
  l3::NeighbourIndex neighbour_of_client(Connection& connection, const Address& client) {
    l3::NeighbourIndex neighbour = connection.client_neighbour;
    egress_.find_again(neighbour, client);
    connection.client_neighbour = neighbour & l3::kNoNeighbour;
    return neighbour;
  }
  l3::NeighbourIndex neighbour_of(Backend& backend) {
    if constexpr (Key::kIsIpv6) {
      if (backend.is_ipv4) {
        return egress_.find_again(backend.neighbour, net::ipv4_of(backend.endpoint.address));
      }
    }
    return egress_.find_again(backend.neighbour, backend.endpoint.address);
  }
  net::LaneVerdict send_to_backend(const Passage& passage, const Connection& connection,
                                   const l3::Resolved& resolved);
  net::LaneVerdict send_to_client(const Passage& passage, const net::Endpoint<Address>& client,
                                  Backend& backend, const l3::Resolved& resolved);
  // By the tunnel of the backend's mode, if it has one, for a packet of this flow.
  net::LaneVerdict transmit_to_backend(const Passage& passage, const Key& flow, Backend& backend,
                                       const l3::Resolved& resolved);
  // What every packet of a connection gets on its way out, and its backend counts.
  net::LaneVerdict transmit(const Passage& passage, Backend& backend, const l3::Resolved& resolved,
                            const l3::TunnelEnd<Address>* tunnel = nullptr);
  void update(const Passage& passage, Connection& connection, const Backend& backend,
              Sender sender) {
    std::optional<net::TcpSegment> segment;
    if (!passage.parsed.fragment.is_later()) {
      segment = net::read_tcp_segment(passage.packet, passage.parsed);
    }
    connections_.update(connection, sender, segment, services_.timeouts_of(backend));
  }

  ServiceTable<Address>& services_;
  ConnectionTable<Address, Tables>& connections_;
  l3::NextHops& next_hops_;
  l3::Egress<Address> egress_;
  l3::Refusals& refusals_;
  const node::FlowOwner& owner_;
  uint16_t identification_ = 0;  // of the next packet that becomes one of IPv4
  bool is_counting_ = true;
  conntrack::NewConnections<Key> together_{};
  std::array<Leaving, net::kBatchLanesMax> leaving_{};
};

extern template class FamilyPath<net::Ipv4Address>;
extern template class FamilyPath<net::Ipv6Address>;

}  // namespace roost::lb
