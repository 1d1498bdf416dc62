// Definitions of ConnectionTable, for the sources that instantiate it: which connection is evicted
// for a new one when all places or ports are taken.
//
// When all places are taken, a new connection gets that of one that is closed or not assured, if a
// hand that goes round the buckets finds one within its next few; one that is not closed it only
// marks as referenced the first time. A flood of packets without replies, or without
// acknowledgements of them, evicts itself. Where the hand finds assured connections only, it takes
// the one that has been silent for the largest part of its time, if that is long enough (decisions
// 0010 and 0015). Ports to bind likewise: one whose connection has expired, or is closed or not
// assured, is taken over when no other is free.
#pragma once

#include <algorithm>
#include <optional>

#include "roost/conntrack/connection_table.h"

namespace roost::conntrack {

// If none is free, the first whose connection may be evicted: candidates begin with the port that
// was given away longest ago.
template <class Rule, class Tables>
bool ConnectionTable<Rule, Tables>::bind_port(const Key& client_key, Connection& connection)
  requires(!kIsSameEnds<Rule>)
{
  auto& replies = shared_->replies;
  const uint64_t turn = replies.rule().next_turn(connection);
  if (replies.bind_free_port(client_key, connection, turn)) return true;
  const size_t pool = replies.pool_of(connection);
  const uint64_t candidates = std::min(replies.ports().count(pool), replies.kPortsTried);
  for (uint64_t i = 0; i < candidates; ++i) {
    connection.bound = replies.ports().candidate(pool, turn, i);
    if (take_over_port(replies.key_of(client_key, connection))) return true;
  }
  return false;
}

// Frees a port that is taken, if its connection has expired, or is closed or not assured.
template <class Rule, class Tables>
bool ConnectionTable<Rule, Tables>::take_over_port(const Key& reply_key)
  requires(!kIsSameEnds<Rule>)
{
  auto& replies = shared_->replies;
  const uint32_t leads_to = *replies.find(reply_key);
  const Key client_key = replies.client_key_of(reply_key, leads_to);
  const Connection* connection = connections_.find(client_key);
  if (connection == nullptr) {  // it finds its entry gone when that is reclaimed
    replies.erase(reply_key, leads_to);
    return true;
  }
  if (connection->flow_class() == FlowClass::kAssured) return false;
  give_up(client_key, *connection);
  return true;
}

// Expired ones first; then the first one that the hand finds for the second time, or the first of
// all if it finds none. If all are assured, the one that has been silent for the largest part of
// its time.
template <class Rule, class Tables>
bool ConnectionTable<Rule, Tables>::make_room(const StateTimeouts& timeouts) {
  reclaim(kRoomBuckets);
  if (connections_.size() < connections_max_) return true;
  std::optional<Key> referenced;
  std::optional<Key> silent;
  uint32_t longest = 0;
  bool has_room = false;
  const auto visit = [&](const Key& client_key, Connection& connection) {
    const FlowClass flow_class = connection.flow_class();
    if (has_room) return;
    if (flow_class == FlowClass::kAssured) {
      const uint32_t part = silent_part(connection, timeouts);
      if (part <= longest) return;
      longest = part;
      silent = client_key;
      return;
    }
    if (flow_class != FlowClass::kClosed && !connection.is_referenced) {
      connection.is_referenced = true;
      if (!referenced) referenced = client_key;
      return;
    }
    give_up(client_key, connection);
    has_room = true;
  };
  for (uint64_t i = 0; i < kRoomBuckets && !has_room; ++i) {
    if (!connections_.scan(hand_, 1, visit)) hand_ = {};
  }
  if (has_room) return true;
  const std::optional<Key>& chosen = referenced ? referenced : silent;
  if (chosen) give_up(*chosen, *connections_.find(*chosen));
  return chosen.has_value();
}

template <class Rule, class Tables>
uint32_t ConnectionTable<Rule, Tables>::silent_part(const Connection& connection,
                                                    const StateTimeouts& timeouts) const {
  const TickCount timeout = timeout_of(connection, timeouts);
  const TickCount silent = timeout - std::min(timeout, ticks_left(connection));
  if (silent < std::min(silence_ticks_min_, (timeout + 1) / 2)) return 0;
  return silent * kSilentWhole / timeout;
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::give_up(const Key& client_key, const Connection& connection) {
  FlowCounts& counts = shared_->counts;
  ++(connection.flow_class() == FlowClass::kClosed ? counts.ended : counts.evicted);
  remove(client_key, connection);
}

}  // namespace roost::conntrack
