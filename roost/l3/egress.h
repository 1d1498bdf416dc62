// How a packet leaves: resolved before anything of it is changed, transmitted after the function
// has rewritten it.
//
//   resolve    the neighbour, its MAC or a place to wait for it; the MTU; room for tags and tunnel.
//              The sender of a packet that cannot leave gets an ICMP error, if it may.
//   transmit   hop count, tags, MACs, tunnel; whole, or cut where that is allowed
//
// A packet that waits leaves later, by the outbox; so do the pieces of one that is cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "roost/base/assert.h"
#include "roost/expiry/tick.h"
#include "roost/l3/icmp_errors.h"
#include "roost/l3/next_hops.h"
#include "roost/net/drop_cause.h"
#include "roost/net/encapsulation.h"
#include "roost/net/flow_key.h"
#include "roost/net/fragment.h"
#include "roost/net/outbox.h"
#include "roost/net/packet_batch.h"
#include "roost/net/parse.h"
#include "roost/net/rewrite.h"

namespace roost::l3 {

// The other end of a tunnel that a packet leaves by.
template <class Address>
struct TunnelEnd {
  net::Encapsulation kind{};
  Address destination{};
  uint16_t flow_hash = 0;  // the same for all packets of a flow in one direction
};

// Neighbour and interface are asked once a packet; what they said holds until it is transmitted.
struct Resolved {
  NeighbourIndex neighbour = kNoNeighbour;
  const Interface* out = nullptr;
  uint16_t out_port = 0;
  net::MacAddress mac{};     // the neighbour's, unless the packet waits
  bool waits = false;        // for the neighbour's advertisement
  net::DropCause refusal{};  // why it does not leave; its ICMP error is sent if it may
};

// One worker's, of one family.
template <class Address>
class Egress {
 public:
  // All must outlive this object.
  Egress(NextHops& next_hops, IcmpErrors& errors, net::Outbox& outbox, uint16_t gue_port)
      : next_hops_(next_hops), errors_(errors), outbox_(outbox), gue_port_(gue_port) {
    for (const Interface& interface : next_hops.interfaces()) {
      tunnel_sources_.push_back(first_address(interface));
    }
  }

  void advance(Tick now) { now_ = now; }

  // The neighbour of an address, of either family: the one that it had if it still is, else found
  // and kept; kNoNeighbour when there is no way or no room.
  template <class AnyAddress>
  NeighbourIndex find_again(NeighbourIndex& neighbour, const AnyAddress& address) {
    if (neighbour == kNoNeighbour || !next_hops_.neighbours().is_still(neighbour, address)) {
      neighbour = next_hops_.find(address, now_);
    }
    return neighbour;
  }

  // Bytes that a tunnel adds to a packet.
  [[nodiscard]] static size_t bytes_of(net::Encapsulation kind) {
    return net::encapsulation_bytes(kind, net::FlowKey<Address>::kIsIpv6);
  }

  // Whether the packet can leave by this neighbour, now or once it is reachable, with these
  // bytes added, of a tunnel above all; negative: taken away. What is found is the caller's, so
  // that it is read as it was written; optionals are written in parts and read whole, for which a
  // processor waits.
  [[nodiscard]] bool resolve(const net::Packet& packet, const net::ParsedPacket& parsed,
                             NeighbourIndex neighbour, ptrdiff_t added_bytes, Resolved& resolved);

  // The packet must have been resolved with the bytes of this tunnel; null: none. When it leaves
  // now and whole, its bytes are as they are sent. `is_cut`: it left in pieces, which count as
  // frames of our own.
  [[nodiscard]] net::LaneVerdict transmit(net::Packet& packet, net::ParsedPacket& parsed,
                                          const Resolved& resolved,
                                          const TunnelEnd<Address>* tunnel, bool& is_cut);

 private:
  [[nodiscard]] static Address first_address(const Interface& interface) {
    for (const net::IpPrefix& own : interface.addresses) {
      if (const auto address = own.address.as<Address>()) return *address;
    }
    return {};
  }
  [[nodiscard]] static size_t bytes_of(const TunnelEnd<Address>* tunnel) {
    return tunnel == nullptr ? 0 : bytes_of(tunnel->kind);
  }

  void transmit_pieces(const net::Packet& packet, const net::ParsedPacket& parsed,
                       uint16_t out_port, const TunnelEnd<Address>* tunnel);
  void encapsulate(net::Packet& packet, net::ParsedPacket& parsed, uint16_t out_port,
                   const TunnelEnd<Address>& tunnel);

  NextHops& next_hops_;
  IcmpErrors& errors_;
  net::Outbox& outbox_;
  std::vector<Address> tunnel_sources_;  // by port
  uint16_t gue_port_;
  uint16_t identification_ = 0;  // of the next outer header
  Tick now_{};
};

template <class Address>
bool Egress<Address>::resolve(const net::Packet& packet, const net::ParsedPacket& parsed,
                              NeighbourIndex neighbour, ptrdiff_t added_bytes, Resolved& resolved) {
  const auto refuse = [&](net::DropCause cause) {
    resolved.refusal = cause;
    return false;
  };
  if (neighbour == kNoNeighbour) return refuse(net::DropCause::kNoNeighbour);
  Neighbours& neighbours = next_hops_.neighbours();
  resolved.neighbour = neighbour;
  resolved.out_port = neighbours.port(neighbour);
  const Interface& out = next_hops_.interface(resolved.out_port);
  resolved.out = &out;
  const bool is_too_big = parsed.ip_bytes + added_bytes > out.mtu;
  if (is_too_big && !net::may_be_cut(packet, parsed)) {
    const ptrdiff_t mtu = std::min<ptrdiff_t>(out.mtu - added_bytes, UINT16_MAX);
    errors_.too_big(packet, parsed, static_cast<uint16_t>(mtu));
    return refuse(net::DropCause::kTooBig);
  }
  const auto tag_bytes_before = static_cast<ptrdiff_t>(parsed.vlan.count * net::vlan::kTagBytes);
  const ptrdiff_t bytes_after =
      static_cast<ptrdiff_t>(out.vlan.count * net::vlan::kTagBytes) + added_bytes;
  if (bytes_after > tag_bytes_before + packet.headroom) return refuse(net::DropCause::kNoHeadroom);
  const auto frame_bytes = static_cast<size_t>(packet.total_bytes - tag_bytes_before + bytes_after);
  switch (neighbours.use(neighbour, frame_bytes, now_, outbox_)) {
    case Way::kKnown:
      resolved.mac = neighbours.mac(neighbour);
      return true;
    case Way::kWaits:
      // Only what is in one buffer and leaves in one piece can wait.
      if (is_too_big || packet.contiguous_bytes != packet.total_bytes) break;
      resolved.waits = true;
      return true;
    case Way::kQueueFull:
      break;
    case Way::kFailed:
      return refuse(net::DropCause::kNeighbourFailed);
  }
  return refuse(net::DropCause::kNeighbourQueueFull);
}

template <class Address>
net::LaneVerdict Egress<Address>::transmit(net::Packet& packet, net::ParsedPacket& parsed,
                                           const Resolved& resolved,
                                           const TunnelEnd<Address>* tunnel, bool& is_cut) {
  const uint16_t out_port = resolved.out_port;
  const Interface& out = *resolved.out;
  net::decrement_ttl(packet, parsed);
  const bool is_tagged = net::rewrite_vlan_tags(packet, parsed, out.vlan);
  ROOST_ASSERT(is_tagged);
  net::rewrite_macs(packet, {.source = out.mac, .destination = resolved.mac});
  is_cut = parsed.ip_bytes + bytes_of(tunnel) > out.mtu;
  if (is_cut) {
    transmit_pieces(packet, parsed, out_port, tunnel);
    return net::LaneVerdict::consume();
  }
  if (tunnel != nullptr) encapsulate(packet, parsed, out_port, *tunnel);
  if (!resolved.waits) return net::LaneVerdict::forward(out_port);
  next_hops_.neighbours().keep(resolved.neighbour, {packet.data, packet.total_bytes});
  return net::LaneVerdict::consume();
}

// The packet itself goes nowhere; its pieces are our own.
template <class Address>
void Egress<Address>::transmit_pieces(const net::Packet& packet, const net::ParsedPacket& parsed,
                                      uint16_t out_port, const TunnelEnd<Address>* tunnel) {
  const size_t added_bytes = bytes_of(tunnel);
  const auto mtu = static_cast<uint16_t>(next_hops_.interface(out_port).mtu - added_bytes);
  net::Piece piece = net::piece_at(packet, parsed, 0, mtu);
  while (piece.bytes != 0) {
    const size_t frame_bytes = net::frame_bytes_of(parsed, piece);
    const auto frame = outbox_.reserve(out_port, added_bytes + frame_bytes);
    if (frame.empty()) break;  // without this one, the others are worth nothing
    net::write_piece(packet, parsed, piece, frame.subspan(added_bytes));
    if (tunnel != nullptr) {
      const auto bytes = static_cast<uint32_t>(frame_bytes);
      net::Packet inner{frame.data() + added_bytes, bytes, bytes,
                        static_cast<uint32_t>(added_bytes)};
      net::ParsedPacket inner_parsed = parsed;
      inner_parsed.ip_bytes = piece.header_bytes + piece.bytes;
      encapsulate(inner, inner_parsed, out_port, *tunnel);
    }
    piece = net::piece_at(packet, parsed, piece.offset + piece.bytes, mtu);
  }
}

// There is room: resolve() has checked it, and fragmentation reserves it.
template <class Address>
void Egress<Address>::encapsulate(net::Packet& packet, net::ParsedPacket& parsed, uint16_t out_port,
                                  const TunnelEnd<Address>& tunnel) {
  const bool is_done = net::encapsulate(packet, parsed,
                                        net::Tunnel<Address>{.kind = tunnel.kind,
                                                             .source = tunnel_sources_[out_port],
                                                             .destination = tunnel.destination,
                                                             .gue_port = gue_port_,
                                                             .flow_hash = tunnel.flow_hash,
                                                             .identification = identification_++});
  ROOST_ASSERT(is_done);
}

}  // namespace roost::l3
