// One connection: its backend, how far it has come, and what its ends send next.
//
// Anybody can send a packet with a client's address. So a packet counts only if its sender knows
// what nobody but the two ends does: where the streams of TCP stand. All packets are forwarded; one
// that does not fit changes nothing. Where the streams stand is kept in units of 256 bytes, 24
// bits a direction, so that a guess succeeds once in millions:
//
//   confirmed    by a client that acknowledges what the backend has just sent
//   reset        by an RST at the end of its sender's stream
//   closed, and streams that move on
//                by packets near the end of their sender's stream which acknowledge near the end of
//                the other
//
// What comes from a backend comes by its side of the network (FamilyPath), and is believed but for
// an RST; so its acknowledgements say where the client's stream is, should we have lost it.
//
// UDP has nothing to check, and neither have connections whose backend is not seen: these are
// confirmed by their client's kUnverifiedPackets-th packet. Whoever sends fewer packets a
// connection confirms none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "apps/lb/connection_state.h"
#include "apps/lb/local_ports.h"
#include "roost/net/headers.h"
#include "roost/net/tcp_segment.h"
#include "roost/node/neighbour_table.h"

namespace roost::lb {

// Where a stream stands: a sequence number in units of 256 bytes, modulo 2^24.
[[nodiscard]] constexpr uint32_t stream_position(uint32_t sequence) { return sequence >> 8; }

// How many units `position` is ahead of `other`; negative, behind it.
[[nodiscard]] constexpr int32_t units_ahead(uint32_t position, uint32_t other) {
  return static_cast<int32_t>((position - other) << 8) >> 8;
}

struct Connection {
  // 16 KB: a first flight of answers, before the client acknowledges them.
  static constexpr int32_t kJustBehindUnits = 64;
  // 1 MB: a gap in what passes here, packets being lost on the way or out of order.
  static constexpr int32_t kNearUnits = 1 << 12;
  // 64 MB: what may be on its way and not yet acknowledged.
  static constexpr int32_t kInFlightUnits = 1 << 18;
  static constexpr uint32_t kUnverifiedPackets = 4;

  uint64_t backend : 16 = 0;           // index in the family's ServiceTable
  uint64_t client_position : 24 = 0;   // TCP: of what the client sends next
  uint64_t backend_position : 24 = 0;  // the same of its backend; before it answers, as the client
                                       // says; if nothing can be checked: packets of the client
  // By whom the client is reached; kNoNeighbour until the first reply asks.
  uint32_t client_neighbour : 24 = node::kNoNeighbour;
  ConnectionState state : 4 = ConnectionState::kUdp;
  Contact contact : 2 = Contact::kAsked;
  bool was_spared : 1 = false;  // by the hand, when it came by
  LocalPort local{};            // with which its backend speaks, in `fullnat`

  // The client's first packet. Where the backend is not seen (`is_one_sided`), it is taken to have
  // answered.
  void begin(net::IpProtocol protocol, const net::TcpSegment& segment, bool is_one_sided) {
    state = first_state(protocol, segment.flags, is_one_sided);
    contact = is_one_sided ? Contact::kAnswered : Contact::kAsked;
    was_spared = false;
    set_client_position(stream_position(segment.end()));
    set_backend_position(can_verify(is_one_sided) ? stream_position(segment.acknowledgement) : 1);
  }

  // The backend's packet is the first that we see of a connection: the backend knows it, and where
  // its client is.
  void begin_from_backend(net::IpProtocol protocol, const net::TcpSegment& segment) {
    const bool is_udp = protocol == net::IpProtocol::kUdp;
    state = is_udp ? ConnectionState::kUdp
                   : next_state(ConnectionState::kEstablished, Sender::kBackend, segment.flags);
    contact = is_udp ? Contact::kAnswered : Contact::kConfirmed;
    set_client_position(stream_position(segment.acknowledgement));
    set_backend_position(is_udp ? 0 : stream_position(segment.end()));
  }

  // A packet of the connection passes.
  void hear(Sender sender, const net::TcpSegment& segment, bool is_one_sided) {
    const bool is_verifiable = can_verify(is_one_sided);
    if (state != ConnectionState::kUdp) {
      if (!fits(sender, segment, is_verifiable)) return;
      if (!segment.has(net::tcp::kRst)) follow(sender, segment, is_verifiable);
    }
    contact = is_verifiable ? verified_contact(sender, segment) : counted_contact(sender, segment);
    state = next_state(state, sender, segment.flags);
  }

  [[nodiscard]] FlowClass flow_class() const {
    if (state == ConnectionState::kClosed) return FlowClass::kClosed;
    return contact == Contact::kConfirmed ? FlowClass::kConfirmed : FlowClass::kEmbryonic;
  }

  // How long a silence may last. TCP without confirmation gets what a SYN gets, whatever its state.
  [[nodiscard]] TickCount timeout(const StateTimeouts& timeouts) const {
    const TickCount by_state = timeouts[static_cast<size_t>(state)];
    if (state == ConnectionState::kUdp || contact == Contact::kConfirmed) return by_state;
    return std::min(by_state, timeouts[static_cast<size_t>(ConnectionState::kSynSent)]);
  }

 private:
  static constexpr uint32_t kPositionMask = (1 << 24) - 1;
  void set_client_position(uint32_t position) { client_position = position & kPositionMask; }
  void set_backend_position(uint32_t position) { backend_position = position & kPositionMask; }

  // Whether its packets can be checked against both streams.
  [[nodiscard]] bool can_verify(bool is_one_sided) const {
    return state != ConnectionState::kUdp && !is_one_sided;
  }

  // Whether `position` is `end` or so little behind it that only who knows `end` can say it.
  [[nodiscard]] static bool is_just_behind(uint32_t position, uint32_t end) {
    const int32_t ahead = units_ahead(position, end);
    return ahead <= 0 && ahead >= -kJustBehindUnits;
  }
  [[nodiscard]] static bool is_near(uint32_t position, uint32_t end, int32_t units_behind) {
    const int32_t ahead = units_ahead(position, end);
    return ahead <= kNearUnits && ahead >= -units_behind;
  }

  // Whether the connection's own end can have sent this.
  [[nodiscard]] bool fits(Sender sender, const net::TcpSegment& segment, bool is_verifiable) const {
    const uint32_t sequence = stream_position(segment.sequence);
    const uint32_t acknowledged = stream_position(segment.acknowledgement);
    const bool acknowledges = segment.has(net::tcp::kAck);
    const bool is_answered = is_verifiable && contact != Contact::kAsked;
    if (segment.has(net::tcp::kRst)) {
      if (sender == Sender::kClient) return is_just_behind(sequence, client_position);
      // A refused SYN has no number to answer with (RFC 9293 section 3.5.2).
      return is_answered || !acknowledges ? is_just_behind(sequence, backend_position)
                                          : is_just_behind(acknowledged, client_position);
    }
    if (sender == Sender::kBackend) return true;
    // Another SYN is another attempt, as long as there was no answer.
    if (segment.has(net::tcp::kSyn)) return state == ConnectionState::kSynSent;
    return is_near(sequence, client_position, kNearUnits) &&
           (!acknowledges || !is_answered ||
            is_near(acknowledged, backend_position, kInFlightUnits));
  }

  // The streams move on.
  void follow(Sender sender, const net::TcpSegment& segment, bool is_verifiable) {
    const uint32_t end = stream_position(segment.end());
    if (sender == Sender::kClient) {
      if (segment.has(net::tcp::kSyn) || units_ahead(end, client_position) > 0) {
        set_client_position(end);
      }
      return;
    }
    if (!is_verifiable) return;
    const int32_t ahead = units_ahead(end, backend_position);
    const bool is_first = contact == Contact::kAsked || segment.has(net::tcp::kSyn);
    if (is_first || ahead > 0 || ahead < -kInFlightUnits) set_backend_position(end);
    const uint32_t acknowledged = stream_position(segment.acknowledgement);
    if (segment.has(net::tcp::kAck) && units_ahead(acknowledged, client_position) > 0) {
      set_client_position(acknowledged);
    }
  }

  // A backend that speaks on in a connection which did not begin here knows it.
  [[nodiscard]] Contact verified_contact(Sender sender, const net::TcpSegment& segment) const {
    if (segment.has(net::tcp::kRst)) return contact;  // who refuses has not agreed
    if (sender == Sender::kBackend) {
      if (contact != Contact::kAsked) return contact;
      const bool goes_on =
          !segment.has(net::tcp::kSyn) && !is_reset(state) && state != ConnectionState::kSynSent;
      return goes_on ? Contact::kConfirmed : Contact::kAnswered;
    }
    const bool knows_answer =
        contact == Contact::kAnswered && segment.has(net::tcp::kAck) &&
        !segment.has(net::tcp::kSyn) &&
        is_just_behind(stream_position(segment.acknowledgement), backend_position);
    return knows_answer ? Contact::kConfirmed : contact;
  }

  [[nodiscard]] Contact counted_contact(Sender sender, const net::TcpSegment& segment) {
    if (segment.has(net::tcp::kRst)) return contact;
    if (sender == Sender::kBackend) {
      return contact == Contact::kAsked ? Contact::kAnswered : contact;
    }
    if (backend_position < kUnverifiedPackets) set_backend_position(backend_position + 1);
    const bool has_spoken_enough =
        contact == Contact::kAnswered && backend_position == kUnverifiedPackets;
    return has_spoken_enough ? Contact::kConfirmed : contact;
  }
};
static_assert(sizeof(Connection) == 16, "two IPv4 entries with their keys fit one cache line");

}  // namespace roost::lb
