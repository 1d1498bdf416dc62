// What is known of a connection's progress, seen from between client and backend, and how packets
// change it.
//
// The balancer sees both directions but keeps no sequence numbers: it only has to know how long a
// silence may last. The states are RFC 9293's, joined where their timeout is the same. The state
// machine is a table, so that what happens on a packet can be read off a row.
//
// Any packet that is not a SYN makes a connection established when the client sent it: connections
// that were there before the balancer are picked up. Closed is final, except that a client's SYN
// begins the next connection of the same addresses and ports.
//
// Beside its state a connection has a contact: how far its two ends have spoken with each other.
// The state says how long a silence may last; the contact, whether the connection may be evicted
// for another one (decision 0010). Packets from invented addresses never confirm one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roost/expiry/tick.h"
#include "roost/net/headers.h"

namespace roost::lb {

enum class ConnectionState : uint8_t {
  kSynSent,          // the client has asked
  kSynReceived,      // the backend has answered
  kEstablished,      // the client has spoken after that
  kClientFinished,   // FIN from the client
  kBackendFinished,  // FIN from the backend
  kClosed,           // FIN from both, or RST from one
  kUdp,              // has no end but silence
};
inline constexpr size_t kConnectionStateCount = 7;

// Ticks without a packet after which a connection in each state is forgotten.
using StateTimeouts = std::array<TickCount, kConnectionStateCount>;

enum class Sender : uint8_t { kClient, kBackend };

// The connection's state after a packet. Constant time. `tcp_flags` is 0 for UDP.
[[nodiscard]] constexpr ConnectionState next_state(ConnectionState state, Sender sender,
                                                   uint8_t tcp_flags) {
  enum Event : uint8_t { kPlain, kSyn, kFin, kRst };
  using enum ConnectionState;
  // By state, then what the client sent, then what the backend sent.
  constexpr ConnectionState kNext[kConnectionStateCount][2][4] = {
      /* kSynSent */
      {{kEstablished, kSynSent, kClientFinished, kClosed},
       {kSynSent, kSynReceived, kBackendFinished, kClosed}},
      /* kSynReceived */
      {{kEstablished, kSynReceived, kClientFinished, kClosed},
       {kSynReceived, kSynReceived, kBackendFinished, kClosed}},
      /* kEstablished */
      {{kEstablished, kEstablished, kClientFinished, kClosed},
       {kEstablished, kEstablished, kBackendFinished, kClosed}},
      /* kClientFinished */
      {{kClientFinished, kClientFinished, kClientFinished, kClosed},
       {kClientFinished, kClientFinished, kClosed, kClosed}},
      /* kBackendFinished */
      {{kBackendFinished, kBackendFinished, kClosed, kClosed},
       {kBackendFinished, kBackendFinished, kBackendFinished, kClosed}},
      /* kClosed */
      {{kClosed, kSynSent, kClosed, kClosed}, {kClosed, kClosed, kClosed, kClosed}},
      /* kUdp */
      {{kUdp, kUdp, kUdp, kUdp}, {kUdp, kUdp, kUdp, kUdp}},
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

// The state of a connection whose first packet, from the client, has these flags.
[[nodiscard]] constexpr ConnectionState first_state(net::IpProtocol protocol, uint8_t tcp_flags) {
  if (protocol == net::IpProtocol::kUdp) return ConnectionState::kUdp;
  return next_state(ConnectionState::kSynSent, Sender::kClient, tcp_flags);
}

enum class Contact : uint8_t {
  kAsked,      // only the client has spoken
  kAnswered,   // and then the backend
  kConfirmed,  // and then the client again
};

// How far the ends have spoken after a packet. Constant time. `tcp_flags` is 0 for UDP.
[[nodiscard]] constexpr Contact next_contact(Contact contact, Sender sender, uint8_t tcp_flags) {
  if ((tcp_flags & net::tcp::kRst) != 0) return contact;  // who refuses has not agreed
  if (sender == Sender::kBackend) {
    return contact == Contact::kAsked ? Contact::kAnswered : contact;
  }
  const bool asks_again = (tcp_flags & net::tcp::kSyn) != 0;
  return contact == Contact::kAnswered && !asks_again ? Contact::kConfirmed : contact;
}

// What a connection is when all places are taken.
enum class FlowClass : uint8_t {
  kEmbryonic,  // its ends have not confirmed each other: may be evicted
  kConfirmed,  // is never evicted
  kClosed,     // TCP closed it: may end before its closing time is over
};
inline constexpr size_t kFlowClassCount = 3;

// Whether TCP has closed the connection. Where the backend is not seen (`is_one_sided`), its FIN is
// not either, and the client's has to do.
[[nodiscard]] constexpr bool is_over(ConnectionState state, bool is_one_sided) {
  return state == ConnectionState::kClosed ||
         (is_one_sided && state == ConnectionState::kClientFinished);
}

// Whether a client's packet begins another connection of the same addresses and ports.
[[nodiscard]] constexpr bool begins_anew(ConnectionState state, uint8_t tcp_flags,
                                         bool is_one_sided = false) {
  using enum ConnectionState;
  return is_over(state, is_one_sided) && next_state(kClosed, Sender::kClient, tcp_flags) != kClosed;
}

}  // namespace roost::lb
