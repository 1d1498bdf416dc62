// Definitions of ConnectionTable, for whoever instantiates it: who gives way to a new connection
// when all places or local ports are taken.
#pragma once

#include <algorithm>
#include <optional>

#include "apps/lb/connection_table.h"

namespace roost::lb {

// If none is free, the first whose connection nobody will miss: candidates begin with the port that
// was given away longest ago.
template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::choose_local_port(const Key& client_key,
                                                         Connection& connection) {
  const LocalPorts<Address>& ports = shared_->local_ports;
  const uint64_t turn = shared_->services->backend(connection.backend).local_port_turn++;
  if (shared_->choose_free_port(client_key, connection, turn)) return true;
  const uint64_t candidates = std::min(ports.count(), kLocalPortsTried);
  for (uint64_t i = 0; i < candidates; ++i) {
    connection.local = ports.candidate(turn, i);
    if (take_over_port(shared_->reply_key_of(client_key, connection))) return true;
  }
  return false;
}

// Frees a local port that is taken, if its connection is dead, closed or embryonic.
template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::take_over_port(const Key& reply_key) {
  const uint32_t leads_to = *shared_->replies.find(reply_key);
  const Key client_key = shared_->client_key_of(reply_key, leads_to);
  const Connection* connection = connections_.find(client_key);
  if (connection == nullptr) {  // it finds its entry gone when it is handed over
    shared_->leases.give_back(leads_to & ~kIsLease);
    shared_->replies.erase(reply_key);
    return true;
  }
  if (connection->flow_class() == FlowClass::kConfirmed) return false;
  give_up(client_key, *connection);
  return true;
}

// Expired ones first; then the first one that the hand finds for the second time, or the first of
// all if it finds none. If all are confirmed, the one that has been silent for the largest part of
// its time.
template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::make_room(const StateTimeouts& timeouts) {
  connections_.maintain(kRoomBuckets);
  if (connections_.size() < connections_max_) return true;
  std::optional<Key> spared;
  std::optional<Key> silent;
  uint32_t longest = 0;
  bool has_room = false;
  const auto visit = [&](const Key& client_key, Connection& connection) {
    const FlowClass flow_class = connection.flow_class();
    if (has_room) return;
    if (flow_class == FlowClass::kConfirmed) {
      const uint32_t part = silent_part(connection, timeouts);
      if (part <= longest) return;
      longest = part;
      silent = client_key;
      return;
    }
    if (flow_class == FlowClass::kEmbryonic && !connection.was_spared) {
      connection.was_spared = true;
      if (!spared) spared = client_key;
      return;
    }
    give_up(client_key, connection);
    has_room = true;
  };
  for (uint64_t i = 0; i < kRoomBuckets && !has_room; ++i) {
    if (!connections_.scan(hand_, 1, visit)) hand_ = {};
  }
  if (has_room) return true;
  const std::optional<Key>& chosen = spared ? spared : silent;
  if (chosen) give_up(*chosen, *connections_.find(*chosen));
  return chosen.has_value();
}

template <class Address, class Tables>
uint32_t ConnectionTable<Address, Tables>::silent_part(const Connection& connection,
                                                       const StateTimeouts& timeouts) const {
  const TickCount timeout = connection.timeout(timeouts);
  const TickCount silent = timeout - std::min(timeout, ticks_left(connection));
  if (silent < std::min(silence_ticks_min_, (timeout + 1) / 2)) return 0;
  return silent * kSilentWhole / timeout;
}

template <class Address, class Tables>
void ConnectionTable<Address, Tables>::give_up(const Key& client_key,
                                               const Connection& connection) {
  FlowCounts& counts = shared_->counts;
  ++(connection.flow_class() == FlowClass::kClosed ? counts.ended : counts.evicted);
  remove(client_key, connection);
}

}  // namespace roost::lb
