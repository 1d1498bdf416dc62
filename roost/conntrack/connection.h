// One connection: how far it has come, what its ends send next, and what its function keeps with
// it.
//
// A client's address can be spoofed. So a packet counts only if its sender knows what only the two
// ends know: where the streams of TCP stand. All packets are forwarded; one that does not fit
// changes nothing. Where the streams stand is kept in units of 256 bytes, 24 bits a direction, so
// that a guess succeeds once in millions:
//
//   assured      by a client that acknowledges what the server has just sent
//   reset        by an RST at the end of its sender's stream
//   closed, and streams that move on
//                by packets near the end of their sender's stream which acknowledge near the end of
//                the other
//
// A server's packets are trusted but for an RST: the function has to see that they come by the
// server's side of the network. So its acknowledgements say where the client's stream is, should we
// have lost it, and its SYN-ACK that the client has begun anew.
//
// Other protocols have nothing to check, and neither have connections whose server is not seen:
// these are assured by their client's kUnverifiedPackets-th packet. A client that sends fewer
// packets a connection assures none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "roost/conntrack/connection_state.h"
#include "roost/conntrack/port_bindings.h"
#include "roost/net/headers.h"
#include "roost/net/tcp_segment.h"

namespace roost::conntrack {

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
  static constexpr uint32_t kNoNeighbour = (1 << 24) - 1;

  uint64_t owner : 16 = 0;            // the function's own: a backend, a rule
  uint64_t client_position : 24 = 0;  // TCP: of what the client sends next
  uint64_t server_position : 24 = 0;  // the same of the server; before it answers, as the client
                                      // says; if nothing can be checked: packets of the client
  // The function's own: the neighbour by which the client is reached; kNoNeighbour until
  // it is resolved.
  uint32_t client_neighbour : 24 = kNoNeighbour;
  ConnectionState state : 4 = ConnectionState::kUdp;
  Assurance assurance : 2 = Assurance::kUnreplied;
  bool is_referenced : 1 = false;  // the eviction's hand has passed it, and no packet came since
  bool flag : 1 = false;           // the function's own; down when the connection begins
  BoundPort bound{};               // that the server sends to, if one was bound

  // The client's first packet. Where the server is not seen (`is_reply_unseen`), it is taken to
  // have answered.
  void begin(net::IpProtocol protocol, const net::TcpSegment& segment, bool is_reply_unseen) {
    state = first_state(protocol, segment.flags, is_reply_unseen);
    assurance = is_reply_unseen ? Assurance::kSeenReply : Assurance::kUnreplied;
    is_referenced = false;
    flag = false;
    set_client_position(stream_position(segment.end()));
    set_server_position(can_verify(is_reply_unseen) ? stream_position(segment.acknowledgement) : 1);
  }

  // The server's packet is the first that we see of a connection: the server knows it, and where
  // its client is.
  void begin_from_server(net::IpProtocol protocol, const net::TcpSegment& segment) {
    const bool is_tcp = protocol == net::IpProtocol::kTcp;
    state = is_tcp ? next_state(ConnectionState::kEstablished, Sender::kServer, segment.flags)
                   : state_without_streams(protocol);
    assurance = is_tcp ? Assurance::kAssured : Assurance::kSeenReply;
    set_client_position(stream_position(segment.acknowledgement));
    set_server_position(is_tcp ? stream_position(segment.end()) : 0);
  }

  // Updates the state by a packet of the connection.
  void update(Sender sender, const net::TcpSegment& segment, bool is_reply_unseen) {
    const bool is_verifiable = can_verify(is_reply_unseen);
    if (has_streams(state)) {
      if (!fits(sender, segment, is_verifiable)) return;
      if (sender == Sender::kServer && accepts_another_syn(segment)) {
        state = ConnectionState::kSynSent;
        assurance = Assurance::kUnreplied;
        set_client_position(stream_position(segment.acknowledgement));
      }
      if (!segment.has(net::tcp::kRst)) follow(sender, segment, is_verifiable);
    }
    assurance =
        is_verifiable ? verified_assurance(sender, segment) : counted_assurance(sender, segment);
    state = next_state(state, sender, segment.flags);
  }

  [[nodiscard]] FlowClass flow_class() const {
    if (state == ConnectionState::kClosed) return FlowClass::kClosed;
    if (assurance == Assurance::kUnreplied) return FlowClass::kUnreplied;
    return assurance == Assurance::kAssured ? FlowClass::kAssured : FlowClass::kSeenReply;
  }

  // How long a silence may last. TCP without assurance gets what a SYN gets, whatever its state.
  [[nodiscard]] TickCount timeout(const StateTimeouts& timeouts) const {
    const TickCount by_state = timeouts[static_cast<size_t>(state)];
    if (!has_streams(state) || assurance == Assurance::kAssured) return by_state;
    return std::min(by_state, timeouts[static_cast<size_t>(ConnectionState::kSynSent)]);
  }

 private:
  static constexpr uint32_t kPositionMask = (1 << 24) - 1;
  void set_client_position(uint32_t position) { client_position = position & kPositionMask; }
  void set_server_position(uint32_t position) { server_position = position & kPositionMask; }

  // Whether its packets can be checked against both streams.
  [[nodiscard]] bool can_verify(bool is_reply_unseen) const {
    return has_streams(state) && !is_reply_unseen;
  }

  // Whether `position` is `end` or so little behind it that only an end that knows `end` can send
  // it.
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
    const bool is_answered = is_verifiable && assurance != Assurance::kUnreplied;
    if (segment.has(net::tcp::kRst)) {
      if (sender == Sender::kClient) return is_just_behind(sequence, client_position);
      // A refused SYN has no number to answer with (RFC 9293 section 3.5.2).
      return is_answered || !acknowledges ? is_just_behind(sequence, server_position)
                                          : is_just_behind(acknowledged, client_position);
    }
    if (sender == Sender::kServer) return true;
    // Another SYN is another attempt, as long as there was no answer.
    if (segment.has(net::tcp::kSyn)) return state == ConnectionState::kSynSent;
    return is_near(sequence, client_position, kNearUnits) &&
           (!acknowledges || !is_answered ||
            is_near(acknowledged, server_position, kInFlightUnits));
  }

  // Whether this answers a SYN that changed nothing when it passed: its sender could have been
  // anybody, but the server accepts it, and has no other connection of these ends (RFC 9293 section
  // 3.5.1). A SYN-ACK that is sent again acknowledges what this connection began with.
  [[nodiscard]] bool accepts_another_syn(const net::TcpSegment& segment) const {
    using enum ConnectionState;
    const bool is_under_way = state == kSynReceived || state == kEstablished ||
                              state == kClientFinished || state == kServerFinished;
    return is_under_way && segment.has(net::tcp::kSyn) && segment.has(net::tcp::kAck) &&
           !segment.has(net::tcp::kRst) &&
           !is_just_behind(stream_position(segment.acknowledgement), client_position);
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
    const int32_t ahead = units_ahead(end, server_position);
    const bool is_first = assurance == Assurance::kUnreplied || segment.has(net::tcp::kSyn);
    if (is_first || ahead > 0 || ahead < -kInFlightUnits) set_server_position(end);
    const uint32_t acknowledged = stream_position(segment.acknowledgement);
    if (segment.has(net::tcp::kAck) && units_ahead(acknowledged, client_position) > 0) {
      set_client_position(acknowledged);
    }
  }

  // A server that sends data in a connection which did not begin here knows it.
  [[nodiscard]] Assurance verified_assurance(Sender sender, const net::TcpSegment& segment) const {
    if (segment.has(net::tcp::kRst)) return assurance;  // a refusal is no agreement
    if (sender == Sender::kServer) {
      if (assurance != Assurance::kUnreplied) return assurance;
      const bool goes_on =
          !segment.has(net::tcp::kSyn) && !is_reset(state) && state != ConnectionState::kSynSent;
      return goes_on ? Assurance::kAssured : Assurance::kSeenReply;
    }
    const bool knows_answer =
        assurance == Assurance::kSeenReply && segment.has(net::tcp::kAck) &&
        !segment.has(net::tcp::kSyn) &&
        is_just_behind(stream_position(segment.acknowledgement), server_position);
    return knows_answer ? Assurance::kAssured : assurance;
  }

  [[nodiscard]] Assurance counted_assurance(Sender sender, const net::TcpSegment& segment) {
    if (segment.has(net::tcp::kRst)) return assurance;
    if (sender == Sender::kServer) {
      return assurance == Assurance::kUnreplied ? Assurance::kSeenReply : assurance;
    }
    if (server_position < kUnverifiedPackets) set_server_position(server_position + 1);
    const bool has_spoken_enough =
        assurance == Assurance::kSeenReply && server_position == kUnverifiedPackets;
    return has_spoken_enough ? Assurance::kAssured : assurance;
  }
};
static_assert(sizeof(Connection) == 16, "two IPv4 entries with their keys fit one cache line");

}  // namespace roost::conntrack
