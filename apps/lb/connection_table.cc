#include "apps/lb/connection_table.h"

#include <vector>

namespace roost::lb {

namespace {

// 5 % below the load up to which a table can promise to accept entries, so that inserts stay short.
// Small tables get twice the room.
template <class Table>
uint64_t slots_for(uint64_t connections) {
  constexpr uint64_t kSmall = 4'096;
  constexpr double kLoad = Table::kPromisedLoad - 0.05;
  return connections < kSmall ? 2 * connections + 16
                              : static_cast<uint64_t>(static_cast<double>(connections) / kLoad) + 1;
}

}  // namespace

template <class Address>
Result<ConnectionTable<Address>> ConnectionTable<Address>::create(const Config& config,
                                                                  Services& services) {
  auto replies = Replies::create({.capacity = slots_for<Replies>(config.connections),
                                  .entries_max = config.connections,
                                  .hash_seed = config.hash_seed});
  if (!replies) return replies.error();
  auto shared = std::make_unique<Shared>(Shared{std::move(replies).value(), &services, {}});
  auto connections = Connections::create({.capacity = slots_for<Connections>(config.connections),
                                          .entries_max = config.connections,
                                          .hash_seed = config.hash_seed},
                                         ConnectionEnded{shared.get()});
  if (!connections) return connections.error();
  return ConnectionTable(std::move(shared), std::move(connections).value(), config.connections);
}

template <class Address>
void ConnectionTable<Address>::Shared::forget_reply(const Key& client_key,
                                                    const Connection& connection) {
  auto& backend = services->backend(connection.backend);
  const Key reply_key = reply_key_of(client_key, backend);
  const uint32_t* owner = replies.find(reply_key);
  if (owner != nullptr && *owner == backend.service) replies.erase(reply_key);
  ++backend.counters.flows_over;
}

template <class Address>
void ConnectionTable<Address>::ConnectionEnded::operator()(const Key& client_key,
                                                           const Connection& connection) const {
  shared->forget_reply(client_key, connection);
  if (connection.state == ConnectionState::kClosed) {
    ++shared->counts.ended;
  } else {
    ++shared->counts.expired;
  }
}

template <class Address>
void ConnectionTable<Address>::find(std::span<const Key> keys, std::span<Match> matches) {
  ROOST_DEBUG_ASSERT(keys.size() <= net::kBatchLanesMax && matches.size() >= keys.size());
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> hits;
  if (connections_.find(keys, std::span(found), hits) == keys.size()) {
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      matches[lane] = {found[lane], Sender::kClient};
    }
    return;
  }
  std::array<uint8_t, net::kBatchLanesMax> missed;
  size_t missed_count = 0;
  for (size_t lane = 0; lane < keys.size(); ++lane) {
    matches[lane] = hits.test(lane) ? Match{found[lane], Sender::kClient} : Match{};
    if (!hits.test(lane)) missed[missed_count++] = static_cast<uint8_t>(lane);
  }
  find_replies(keys, std::span(missed).first(missed_count), matches);
}

// For the lanes without a client's connection: batched through replies, then through connections.
template <class Address>
void ConnectionTable<Address>::find_replies(std::span<const Key> keys,
                                            std::span<const uint8_t> lanes,
                                            std::span<Match> matches) {
  std::array<const Key*, net::kBatchLanesMax> reply_keys;
  for (size_t i = 0; i < lanes.size(); ++i) reply_keys[i] = &keys[lanes[i]];
  std::array<uint32_t, net::kBatchLanesMax> services;
  HitArray<net::kBatchLanesMax> hits;
  const std::span<const Key* const> asked(reply_keys.data(), lanes.size());
  if (shared_->replies.lookup(asked, std::span(services), hits) == 0) return;

  std::array<Key, net::kBatchLanesMax> client_keys;
  std::array<uint8_t, net::kBatchLanesMax> client_lanes;
  size_t client_count = 0;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (!hits.test(i)) continue;
    client_keys[client_count] = client_key_of(*reply_keys[i], services[i]);
    client_lanes[client_count++] = lanes[i];
  }
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> live;
  connections_.find(std::span<const Key>(client_keys.data(), client_count), std::span(found), live);
  for (size_t i = 0; i < client_count; ++i) {
    if (live.test(i)) matches[client_lanes[i]] = {found[i], Sender::kBackend};
  }
}

template <class Address>
MakeOutcome ConnectionTable<Address>::make(const Key& client_key, const Connection& connection,
                                           TickCount timeout) {
  const auto& backend = shared_->services->backend(connection.backend);
  const Key reply_key = reply_key_of(client_key, backend);
  const uint32_t* owner = shared_->replies.find(reply_key);
  if (owner != nullptr && owner_of(reply_key, *owner) != nullptr) {
    return MakeOutcome::kReplyTupleTaken;
  }
  if (connections_.size() >= connections_max_ && !make_room()) return MakeOutcome::kFull;
  // The client's entry first: it may hand over an expired one of the same tuple, and with it goes
  // the reply entry that is still that one's.
  //
  // Both tables promise room, but not to keys that somebody chose knowing the hash seed.
  if (connections_.insert(client_key, connection, timeout) == InsertOutcome::kFull) {
    return MakeOutcome::kFull;
  }
  if (shared_->replies.insert(reply_key, backend.service) == InsertOutcome::kFull) {
    connections_.erase(client_key);
    return MakeOutcome::kFull;
  }
  ++shared_->counts.made;
  return MakeOutcome::kMade;
}

// Expired ones first; then the first one that the hand finds for the second time, or the first of
// all if it finds none.
template <class Address>
bool ConnectionTable<Address>::make_room() {
  connections_.maintain(kRoomBuckets);
  if (connections_.size() < connections_max_) return true;
  std::optional<Key> spared;
  bool has_room = false;
  const auto visit = [&](const Key& client_key, Connection& connection) {
    const FlowClass flow_class = connection.flow_class();
    if (has_room || flow_class == FlowClass::kConfirmed) return;
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
  if (has_room || !spared) return has_room;
  give_up(*spared, *connections_.find(*spared));
  return true;
}

template <class Address>
void ConnectionTable<Address>::give_up(const Key& client_key, const Connection& connection) {
  FlowCounts& counts = shared_->counts;
  ++(connection.flow_class() == FlowClass::kClosed ? counts.ended : counts.evicted);
  remove(client_key, connection);
}

template <class Address>
void ConnectionTable<Address>::maintain(uint64_t bucket_budget) {
  const uint64_t bucket_count = connections_.bucket_count();
  const uint64_t ticks = std::min(connections_.now().count - swept_until_.count, kPassTicks);
  swept_until_ = connections_.now();
  buckets_due_ = std::min(buckets_due_ + ticks * (bucket_count / kPassTicks + 1), bucket_count);
  const uint64_t buckets = std::min(buckets_due_, bucket_budget);
  if (buckets == 0) return;
  connections_.maintain(buckets);
  buckets_due_ -= buckets;
}

// The key is a copy, because the caller's may be the entry's own.
template <class Address>
void ConnectionTable<Address>::remove(Key client_key, const Connection& connection) {
  shared_->forget_reply(client_key, connection);
  const bool is_erased = connections_.erase(client_key);
  ROOST_ASSERT(is_erased);
}

template <class Address>
uint64_t ConnectionTable<Address>::count_live() {
  uint64_t live = 0;
  connections_.for_each([&](const Key&, const Connection&) { ++live; });
  return live;
}

template <class Address>
bool ConnectionTable<Address>::audit() {
  uint64_t live = 0;
  bool is_sound = true;
  std::vector<std::pair<Key, uint32_t>> expected;
  connections_.for_each([&](const Key& client_key, const Connection& connection) {
    const auto& backend = shared_->services->backend(connection.backend);
    expected.emplace_back(reply_key_of(client_key, backend), backend.service);
    ++live;
  });
  for (const auto& [reply_key, service] : expected) {
    const uint32_t* owner = shared_->replies.find(reply_key);
    is_sound = is_sound && owner != nullptr && *owner == service;
  }
  return is_sound && connections_.size() == live && shared_->replies.size() == live &&
         !connections_.audit() && !shared_->replies.audit();
}

template class ConnectionTable<net::Ipv4Address>;
template class ConnectionTable<net::Ipv6Address>;

}  // namespace roost::lb
