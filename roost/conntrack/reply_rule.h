// The seam between connections and their function: the reply tuple of a connection, and the
// connection of a reply tuple.
//
// Where addresses stay as they are, the server sends what the client does, with its ends exchanged:
// that is all (SameEnds). Where they are translated, a rule gives the server's end and the end that
// the client addressed; the connection table keeps an entry for it, which names an owner or, if the
// server sends to a bound port, the binding.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "roost/conntrack/connection.h"
#include "roost/net/flow_key.h"

namespace roost::conntrack {

// How a connection's replies come.
enum class Replies : uint8_t {
  kUnseen,      // past us: they have no entry
  kToClient,    // to the client's own end
  kToBoundPort  // to the port that the connection is bound to
};

// A rule of one family. It is copied into the connection table.
template <class Rule>
concept ReplyRule = requires(Rule& rule, const net::FlowKey<typename Rule::Address>& key,
                             const Connection& connection, uint32_t owner) {
  { rule.replies_of(connection) } -> std::same_as<Replies>;
  // The server's end.
  { rule.server_of(key, connection) } -> std::same_as<net::Endpoint<typename Rule::Address>>;
  // What its reply entry names; below 2^31, and of a bound connection below 2^16.
  { rule.owner_of(connection) } -> std::same_as<uint32_t>;
  // The destination of the client's packets, by that owner.
  { rule.destination_of(key, owner) } -> std::same_as<net::Endpoint<typename Rule::Address>>;
  // Which turn it is to bind a port for this connection's server; each is given once.
  { rule.next_turn(connection) } -> std::same_as<uint64_t>;
  // The connection is over, or begins anew in its place.
  { rule.over(connection) } -> std::same_as<void>;
};

// The server sends what the client does, with its ends exchanged: a firewall, a monitor.
// Connections have no reply entry.
template <class AddressType>
struct SameEnds {
  using Address = AddressType;
  void over(const Connection&) const {}
};

// A rule of connections that do not all have the same timeouts says which are whose, so that one is
// not evicted by another's measure:
//   const StateTimeouts& timeouts_of(const Connection&) const
template <class Rule>
inline constexpr bool kHasTimeouts = requires(const Rule& rule, const Connection& connection) {
  { rule.timeouts_of(connection) } -> std::same_as<const StateTimeouts&>;
};

// A rule whose servers are not all addressed from the same pool of BindablePorts says which one it
// is:
//   size_t pool_of(const Connection&) const
template <class Rule>
inline constexpr bool kHasPools = requires(const Rule& rule, const Connection& connection) {
  { rule.pool_of(connection) } -> std::same_as<size_t>;
};

// A rule that is SameEnds, or derived from it.
template <class Rule>
inline constexpr bool kIsSameEnds = std::derived_from<Rule, SameEnds<typename Rule::Address>>;

// A rule that holds something for each entry of the connection table, from before it is created, is
// told when the entry is gone; one that begins anew stays:
//   void removed(const net::FlowKey<Address>& key, const Connection&)
//   net::Endpoint<Address> bound_end(const Connection&) const
template <class Rule>
inline constexpr bool kHoldsEntries =
    requires(Rule& rule, const net::FlowKey<typename Rule::Address>& key,
             const Connection& connection) { rule.removed(key, connection); };

}  // namespace roost::conntrack
