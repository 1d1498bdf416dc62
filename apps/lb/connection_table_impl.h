// Definitions of ConnectionTable, for whoever instantiates it.
#pragma once

#include <vector>

#include "apps/lb/connection_eviction_impl.h"
#include "apps/lb/connection_table.h"
#include "roost/base/hit_words.h"

namespace roost::lb {

// The slots of a table that takes these connections: 5 % below the load up to which a table can
// promise to accept entries, so that inserts stay short. Small tables get twice the room.
template <class Table>
uint64_t slots_for(uint64_t connections) {
  constexpr uint64_t kSmall = 4'096;
  constexpr double kLoad = Table::kPromisedLoad - 0.05;
  return connections < kSmall ? 2 * connections + 16
                              : static_cast<uint64_t>(static_cast<double>(connections) / kLoad) + 1;
}

template <class Address, class Tables>
Result<ConnectionTable<Address, Tables>> ConnectionTable<Address, Tables>::create(
    const Config& config, Services& services) {
  auto replies = Replies::create({.capacity = slots_for<Replies>(config.connections),
                                  .entries_max = config.connections,
                                  .hash_seed = config.hash_seed});
  if (!replies) return replies.error();
  LocalPorts<Address> local_ports(config.local_ports);
  LeasePool<Address> leases(local_ports.count() == 0 ? 0 : config.connections);
  auto shared = std::make_unique<Shared>(
      Shared{std::move(replies).value(), std::move(local_ports), std::move(leases), &services, {}});
  auto connections = Connections::create({.capacity = slots_for<Connections>(config.connections),
                                          .entries_max = config.connections,
                                          .hash_seed = config.hash_seed},
                                         ConnectionEnded{shared.get()});
  if (!connections) return connections.error();
  return ConnectionTable(std::move(shared), std::move(connections).value(), config);
}

template <class Address, class Tables>
auto ConnectionTable<Address, Tables>::Shared::reply_key_of(const Key& client_key,
                                                            const Connection& connection) const
    -> Key {
  const auto& backend = services->backend(connection.backend);
  const Endpoint peer = backend.mode == Mode::kFullnat
                            ? local_ports.endpoint(connection.local)
                            : Endpoint{client_key.source, client_key.source_port};
  return {backend.endpoint.address, peer.address,
          backend.endpoint.port,    peer.port,
          client_key.protocol,      {}};
}

template <class Address, class Tables>
auto ConnectionTable<Address, Tables>::Shared::client_key_of(const Key& reply_key,
                                                             uint32_t leads_to) const -> Key {
  Lease<Address> lease{{reply_key.destination, reply_key.destination_port}, leads_to};
  if ((leads_to & kIsLease) != 0) lease = leases[leads_to & ~kIsLease];
  const Endpoint& virtual_endpoint = services->service(lease.service).virtual_endpoint;
  return {lease.client.address,  virtual_endpoint.address, lease.client.port,
          virtual_endpoint.port, reply_key.protocol,       {}};
}

template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::Shared::insert_reply(const Key& client_key,
                                                            const Connection& connection) {
  const auto& backend = services->backend(connection.backend);
  if (is_one_sided(backend.mode)) return true;
  const bool is_leased = backend.mode == Mode::kFullnat;
  uint32_t leads_to = backend.service;
  if (is_leased) {
    leads_to = leases.take({{client_key.source, client_key.source_port}, backend.service});
  }
  const uint32_t entry = is_leased ? leads_to | kIsLease : leads_to;
  if (replies.insert(reply_key_of(client_key, connection), entry) != InsertOutcome::kFull) {
    return true;
  }
  if (is_leased) leases.give_back(leads_to);
  return false;
}

template <class Address, class Tables>
void ConnectionTable<Address, Tables>::Shared::forget_reply(const Key& client_key,
                                                            const Connection& connection) {
  auto& backend = services->backend(connection.backend);
  ++backend.counters.flows_over;
  if (is_one_sided(backend.mode)) return;
  const Key reply_key = reply_key_of(client_key, connection);
  const uint32_t* leads_to = replies.find(reply_key);
  if (leads_to == nullptr) return;
  if (client_key_of(reply_key, *leads_to) != client_key) return;  // it was taken over
  if (backend.mode == Mode::kFullnat) leases.give_back(*leads_to & ~kIsLease);
  replies.erase(reply_key);
}

// The first candidate is the one whose turn it is, and nearly always free. An entry of the table is
// a port that is taken, even if its connection has expired and waits to be handed over.
template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::Shared::choose_free_port(const Key& client_key,
                                                                Connection& connection,
                                                                uint64_t turn) {
  const uint64_t candidates = std::min(local_ports.count(), kLocalPortsTried);
  std::array<Key, net::kBatchLanesMax> keys;
  std::array<uint32_t, net::kBatchLanesMax> values;
  HitArray<net::kBatchLanesMax> is_taken;
  for (uint64_t first = 0; first < candidates;) {
    const size_t count = first == 0 ? 1 : std::min(candidates - first, keys.size());
    for (size_t i = 0; i < count; ++i) {
      connection.local = local_ports.candidate(turn, first + i);
      keys[i] = reply_key_of(client_key, connection);
    }
    replies.lookup(std::span<const Key>(keys).first(count), std::span(values), is_taken);
    for (size_t i = 0; i < count; ++i) {
      if (is_taken.test(i)) continue;
      connection.local = local_ports.candidate(turn, first + i);
      return true;
    }
    first += count;
  }
  return false;
}

template <class Address, class Tables>
void ConnectionTable<Address, Tables>::ConnectionEnded::operator()(
    const Key& client_key, const Connection& connection) const {
  shared->forget_reply(client_key, connection);
  const Mode mode = shared->services->backend(connection.backend).mode;
  if (is_over(connection.state, is_one_sided(mode))) {
    ++shared->counts.ended;
  } else {
    ++shared->counts.expired;
  }
}

template <class Address, class Tables>
void ConnectionTable<Address, Tables>::find(std::span<const Key> keys, std::span<Match> matches) {
  ROOST_DEBUG_ASSERT(keys.size() <= net::kBatchLanesMax && matches.size() >= keys.size());
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> hits;
  if (connections_.find(keys, std::span(found), hits) == keys.size()) {
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      matches[lane] = {found[lane], Sender::kClient, {}};
    }
    return;
  }
  std::array<uint8_t, net::kBatchLanesMax> missed;
  size_t missed_count = 0;
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    matches[lane] = hits.test(lane) ? Match{found[lane], Sender::kClient, {}} : Match{};
    if (!hits.test(lane)) missed[missed_count++] = static_cast<uint8_t>(lane);
  }
  find_replies(keys, std::span(missed).first(missed_count), matches);
}

// For the lanes without a client's connection: batched through replies, then through connections.
template <class Address, class Tables>
void ConnectionTable<Address, Tables>::find_replies(std::span<const Key> keys,
                                                    std::span<const uint8_t> lanes,
                                                    std::span<Match> matches) {
  std::array<const Key*, net::kBatchLanesMax> reply_keys;
  for (size_t i = 0; i < lanes.size(); ++i) reply_keys[i] = &keys[lanes[i]];
  std::array<uint32_t, net::kBatchLanesMax> leads_to;
  HitArray<net::kBatchLanesMax> hits;
  const std::span<const Key* const> asked(reply_keys.data(), lanes.size());
  if (shared_->replies.lookup(asked, std::span(leads_to), hits) == 0) return;

  std::array<Key, net::kBatchLanesMax> client_keys;
  std::array<uint8_t, net::kBatchLanesMax> client_lanes;
  size_t client_count = 0;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (!hits.test(i)) continue;
    client_keys[client_count] = shared_->client_key_of(*reply_keys[i], leads_to[i]);
    client_lanes[client_count++] = lanes[i];
  }
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> live;
  connections_.find(std::span<const Key>(client_keys.data(), client_count), std::span(found), live);
  for (size_t i = 0; i < client_count; ++i) {
    if (!live.test(i)) continue;
    const Key& client_key = client_keys[i];
    matches[client_lanes[i]] = {
        found[i], Sender::kBackend, {client_key.source, client_key.source_port}};
  }
}

// The reply tuple of a live connection stays its own (I2). That of a dead one is taken over.
template <class Address, class Tables>
std::optional<MakeOutcome> ConnectionTable<Address, Tables>::refuse_reply(const Key& client_key,
                                                                          Connection& connection) {
  const Mode mode = shared_->services->backend(connection.backend).mode;
  if (is_one_sided(mode)) return {};
  if (mode == Mode::kFullnat) {
    if (choose_local_port(client_key, connection)) return {};
    return MakeOutcome::kNoLocalPort;
  }
  const Key reply_key = shared_->reply_key_of(client_key, connection);
  const uint32_t* leads_to = shared_->replies.find(reply_key);
  if (leads_to == nullptr) return {};
  const bool is_leased = (*leads_to & kIsLease) != 0;
  if (!is_leased && connections_.find(shared_->client_key_of(reply_key, *leads_to)) == nullptr) {
    return {};
  }
  return MakeOutcome::kReplyTupleTaken;
}

template <class Address, class Tables>
MakeOutcome ConnectionTable<Address, Tables>::make(const Key& client_key, Connection& connection,
                                                   const StateTimeouts& timeouts) {
  if (const auto refusal = refuse_reply(client_key, connection)) return *refusal;
  if (connections_.size() >= connections_max_ && !make_room(timeouts)) return MakeOutcome::kFull;
  // The client's entry first: it may hand over an expired one of the same tuple, and with it goes
  // the reply entry that is still that one's.
  //
  // Both tables promise room, but not to keys that somebody chose knowing the hash seed.
  const TickCount timeout = connection.timeout(timeouts);
  if (connections_.insert(client_key, connection, timeout) == InsertOutcome::kFull) {
    return MakeOutcome::kFull;
  }
  if (!shared_->insert_reply(client_key, connection)) {
    connections_.erase(client_key);
    return MakeOutcome::kFull;
  }
  ++shared_->counts.made;
  return MakeOutcome::kMade;
}

template <class Address, class Tables>
void ConnectionTable<Address, Tables>::maintain(uint64_t bucket_budget) {
  const uint64_t bucket_count = connections_.bucket_count();
  const uint64_t ticks = std::min(connections_.now().count - swept_until_.count, pass_ticks_);
  swept_until_ = connections_.now();
  buckets_due_ = std::min(buckets_due_ + ticks * (bucket_count / pass_ticks_ + 1), bucket_count);
  const uint64_t buckets = std::min(buckets_due_, bucket_budget);
  if (buckets == 0) return;
  connections_.maintain(buckets);
  buckets_due_ -= buckets;
}

// The key is a copy, because the caller's may be the entry's own.
template <class Address, class Tables>
void ConnectionTable<Address, Tables>::remove(Key client_key, const Connection& connection) {
  shared_->forget_reply(client_key, connection);
  const bool is_erased = connections_.erase(client_key);
  ROOST_ASSERT(is_erased);
}

template <class Address, class Tables>
uint64_t ConnectionTable<Address, Tables>::count_live() {
  uint64_t live = 0;
  connections_.for_each([&](const Key&, const Connection&) { ++live; });
  return live;
}

template <class Address, class Tables>
bool ConnectionTable<Address, Tables>::audit() {
  uint64_t live = 0;
  uint64_t leased = 0;
  std::vector<std::pair<Key, Key>> expected;  // what the backend sends, and the client
  connections_.for_each([&](const Key& client_key, const Connection& connection) {
    ++live;
    const Mode mode = shared_->services->backend(connection.backend).mode;
    if (is_one_sided(mode)) return;
    if (mode == Mode::kFullnat) ++leased;
    expected.emplace_back(shared_->reply_key_of(client_key, connection), client_key);
  });
  bool is_sound = true;
  for (const auto& [reply_key, client_key] : expected) {
    const uint32_t* leads_to = shared_->replies.find(reply_key);
    is_sound = is_sound && leads_to != nullptr &&
               shared_->client_key_of(reply_key, *leads_to) == client_key;
  }
  return is_sound && connections_.size() == live && shared_->replies.size() == expected.size() &&
         shared_->leases.taken() == leased && !connections_.audit() && !shared_->replies.audit();
}

}  // namespace roost::lb
