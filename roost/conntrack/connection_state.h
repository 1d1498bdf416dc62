// How far a connection has come, seen from between client and server, and how packets change that.
//
// The client is the end that sent the first packet, the server the end that it addressed, or the
// one that answers in its place. The states are RFC 9293's, joined where their timeout is the same.
// The state machine is a table, so that what happens on a packet can be read off a row. Which
// packets it gets to see is decided elsewhere (connection.h): those that their sender can have
// sent.
//
// A first packet that is not a SYN creates an established connection: those that were there before
// are picked up. One that begins with a SYN is established by the client's answer to the server's.
// Closed is final, except that a client's SYN begins the next connection of the same addresses and
// ports. An RST is not final, for its receiver may ignore it (RFC 5961): when both ends send on,
// the connection is established again.
//
// Beside its state a connection has an assurance, in the terms of Linux's conntrack: unreplied
// until its server answers, seen reply until its client shows that it knows the answer, assured
// from then on. The state says how long a silence may last; the assurance, whether the connection
// may be evicted for another one (decisions 0010 and 0015).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roost/expiry/tick.h"
#include "roost/net/headers.h"

namespace roost::conntrack {

enum class ConnectionState : uint8_t {
  kSynSent,           // SYN from the client
  kSynReceived,       // SYN-ACK from the server
  kEstablished,       // and then a packet from the client
  kClientFinished,    // FIN from the client
  kServerFinished,    // FIN from the server
  kClosed,            // FIN from both
  kReset,             // RST from one
  kResetClientSpoke,  // and then the client, as if nothing had happened
  kResetServerSpoke,  // and then the server
  kUdp,               // has no end but silence, as the next two
  kEcho,              // ICMP echo of one identifier
  kOther,             // another protocol between two addresses
};
inline constexpr size_t kConnectionStateCount = 12;

inline constexpr std::array<std::string_view, kConnectionStateCount> kConnectionStateNames = {
    "syn_sent",           "syn_received", "established", "client_finished",
    "server_finished",    "closed",       "reset",       "reset_client_spoke",
    "reset_server_spoke", "udp",          "echo",        "other"};

[[nodiscard]] constexpr std::string_view connection_state_name(ConnectionState state) {
  return kConnectionStateNames[static_cast<size_t>(state)];
}

// Of TCP: there are two streams, which begin and end.
[[nodiscard]] constexpr bool has_streams(ConnectionState state) {
  return state < ConnectionState::kUdp;
}

// Ticks without a packet after which a connection in each state expires.
using StateTimeouts = std::array<TickCount, kConnectionStateCount>;

enum class Sender : uint8_t { kClient, kServer };
[[nodiscard]] constexpr Sender other_end(Sender sender) {
  return sender == Sender::kClient ? Sender::kServer : Sender::kClient;
}

// The connection's state after a packet. Constant time. `tcp_flags` is 0 for all but TCP.
[[nodiscard]] constexpr ConnectionState next_state(ConnectionState state, Sender sender,
                                                   uint8_t tcp_flags) {
  enum Event : uint8_t { kPlain, kSyn, kFin, kRst };
  using enum ConnectionState;
  // By state, then what the client sent, then what the server sent.
  constexpr ConnectionState kNext[kConnectionStateCount][2][4] = {
      /* kSynSent */
      {{kSynSent, kSynSent, kSynSent, kReset}, {kSynSent, kSynReceived, kSynSent, kReset}},
      /* kSynReceived */
      {{kEstablished, kSynReceived, kClientFinished, kReset},
       {kSynReceived, kSynReceived, kServerFinished, kReset}},
      /* kEstablished */
      {{kEstablished, kEstablished, kClientFinished, kReset},
       {kEstablished, kEstablished, kServerFinished, kReset}},
      /* kClientFinished */
      {{kClientFinished, kClientFinished, kClientFinished, kReset},
       {kClientFinished, kClientFinished, kClosed, kReset}},
      /* kServerFinished */
      {{kServerFinished, kServerFinished, kClosed, kReset},
       {kServerFinished, kServerFinished, kServerFinished, kReset}},
      /* kClosed */
      {{kClosed, kSynSent, kClosed, kClosed}, {kClosed, kClosed, kClosed, kClosed}},
      /* kReset */
      {{kResetClientSpoke, kSynSent, kReset, kReset}, {kResetServerSpoke, kReset, kReset, kReset}},
      /* kResetClientSpoke */
      {{kResetClientSpoke, kSynSent, kReset, kReset}, {kEstablished, kReset, kReset, kReset}},
      /* kResetServerSpoke */
      {{kEstablished, kSynSent, kReset, kReset}, {kResetServerSpoke, kReset, kReset, kReset}},
      /* kUdp */
      {{kUdp, kUdp, kUdp, kUdp}, {kUdp, kUdp, kUdp, kUdp}},
      /* kEcho */
      {{kEcho, kEcho, kEcho, kEcho}, {kEcho, kEcho, kEcho, kEcho}},
      /* kOther */
      {{kOther, kOther, kOther, kOther}, {kOther, kOther, kOther, kOther}},
  };
  Event event = kPlain;
  if ((tcp_flags & net::tcp::kRst) != 0) {
    event = kRst;
  } else if ((tcp_flags & net::tcp::kFin) != 0) {
    event = kFin;
  } else if ((tcp_flags & net::tcp::kSyn) != 0) {
    event = kSyn;
  }
  return kNext[static_cast<size_t>(state)][static_cast<size_t>(sender)][event];
}

// The only state of a connection of another protocol than TCP.
[[nodiscard]] constexpr ConnectionState state_without_streams(net::IpProtocol protocol) {
  if (protocol == net::IpProtocol::kUdp) return ConnectionState::kUdp;
  const bool is_icmp = protocol == net::kProtocolIcmp4 || protocol == net::kProtocolIcmp6;
  return is_icmp ? ConnectionState::kEcho : ConnectionState::kOther;
}

// The state of a connection whose first packet, from the client, has these flags. Where the server
// is not seen (`is_reply_unseen`), it is taken to have answered.
[[nodiscard]] constexpr ConnectionState first_state(net::IpProtocol protocol, uint8_t tcp_flags,
                                                    bool is_reply_unseen = false) {
  using enum ConnectionState;
  if (protocol != net::IpProtocol::kTcp) return state_without_streams(protocol);
  if ((tcp_flags & net::tcp::kFin) != 0) return kClientFinished;
  if ((tcp_flags & net::tcp::kSyn) == 0) return kEstablished;
  return is_reply_unseen ? kSynReceived : kSynSent;
}

enum class Assurance : uint8_t {
  kUnreplied,  // packets from the client only
  kSeenReply,  // and then the server
  kAssured,    // and then the client again, which acknowledged it
};

// What a connection is when all places are taken.
enum class FlowClass : uint8_t {
  kUnreplied,  // packets from the client only: may be evicted
  kSeenReply,  // its server has answered, and the client has not acknowledged: likewise
  kAssured,    // is evicted in place of a new one only if it is silent, and no other kind is there
  kClosed,     // TCP closed it: may end before its closing time is over
};
inline constexpr size_t kFlowClassCount = 4;

inline constexpr std::array<std::string_view, kFlowClassCount> kFlowClassNames = {
    "unreplied", "seen_reply", "assured", "closed"};

// Whether one end has reset the connection, and not both have sent since.
[[nodiscard]] constexpr bool is_reset(ConnectionState state) {
  using enum ConnectionState;
  return state == kReset || state == kResetClientSpoke || state == kResetServerSpoke;
}

// Whether TCP has closed the connection. Where the server is not seen, its FIN is not either, and
// the client's has to do.
[[nodiscard]] constexpr bool is_over(ConnectionState state, bool is_reply_unseen) {
  return state == ConnectionState::kClosed || is_reset(state) ||
         (is_reply_unseen && state == ConnectionState::kClientFinished);
}

// Whether a client's packet begins another connection of the same addresses and ports.
[[nodiscard]] constexpr bool begins_anew(ConnectionState state, uint8_t tcp_flags,
                                         bool is_reply_unseen = false) {
  using enum ConnectionState;
  return is_over(state, is_reply_unseen) &&
         next_state(kClosed, Sender::kClient, tcp_flags) == kSynSent;
}

}  // namespace roost::conntrack
