// Definitions of ConnectionTable, for the sources that instantiate it.
#pragma once

#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/conntrack/connection_eviction_impl.h"
#include "roost/conntrack/connection_table.h"

namespace roost::conntrack {

template <class Rule, class Tables>
Result<ConnectionTable<Rule, Tables>> ConnectionTable<Rule, Tables>::create(const Config& config,
                                                                            Rule rule,
                                                                            const Tables& tables) {
  auto replies = ReplyTable<Rule, Tables>::create(replies_config(config), std::move(rule), tables);
  if (!replies) return replies.error();
  auto shared = std::make_unique<Shared>(Shared{std::move(replies).value(), {}, {}});
  auto connections = tables.template make_timed<Key, Connection>(connections_config(config),
                                                                 ConnectionEnded{shared.get()});
  if (!connections) return connections.error();
  if constexpr (!kIsSameEnds<Rule> && std::same_as<Tables, OwnTables>) {
    if (config.memory.is_adopted && (connections.value().entries_max() != config.connections ||
                                     shared->replies.entries_max() != config.connections)) {
      return Error{"the memory holds tables for another number of connections; begin anew"};
    }
  }
  return ConnectionTable(std::move(shared), std::move(connections).value(), config);
}

template <class Rule, class Tables>
Result<TableBytes> ConnectionTable<Rule, Tables>::bytes_to_lend(const Config& config)
  requires std::same_as<Tables, OwnTables>
{
  const Result<uint64_t> connections = Connections::bytes_to_lend(connections_config(config));
  if (!connections) return connections.error();
  TableBytes bytes{.connections = connections.value()};
  if (const auto error = Replies::add_bytes_to_lend(replies_config(config), bytes)) return *error;
  return bytes;
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::ConnectionEnded::operator()(
    const Key& client_key, const Connection& connection) const {
  auto& replies = shared->replies;
  replies.rule().over(connection);
  if constexpr (kHoldsEntries<Rule>) replies.rule().removed(client_key, connection);
  if (replies.is_seen(connection)) {
    if (shared->over_count == shared->over.size()) shared->forget_replies();
    shared->over[shared->over_count++] = {client_key, connection};
  }
  if (is_over(connection.state, !replies.is_seen(connection))) {
    ++shared->counts.ended;
  } else {
    ++shared->counts.expired;
  }
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::find(const PrefetchedKeys<std::span<const Key>>& asked,
                                         std::span<Match> matches) {
  const std::span<const Key> keys = asked.keys;
  ROOST_DEBUG_ASSERT(keys.size() <= net::kBatchLanesMax && matches.size() >= keys.size());
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> hits;
  if (connections_.find(asked, std::span(found), hits) == keys.size()) {
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
template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::find_replies(std::span<const Key> keys,
                                                 std::span<const uint8_t> lanes,
                                                 std::span<Match> matches) {
  std::array<Key, net::kBatchLanesMax> client_keys;
  std::array<uint8_t, net::kBatchLanesMax> client_lanes;
  const size_t client_count =
      shared_->replies.find_clients(keys, lanes, std::span(client_keys), std::span(client_lanes));
  if (client_count == 0) return;
  std::array<Connection*, net::kBatchLanesMax> found;
  HitArray<net::kBatchLanesMax> live;
  connections_.find(std::span<const Key>(client_keys.data(), client_count), std::span(found), live);
  for (size_t i = 0; i < client_count; ++i) {
    if (!live.test(i)) continue;
    const Key& client_key = client_keys[i];
    matches[client_lanes[i]] = {
        found[i], Sender::kServer, {client_key.source, client_key.source_port}};
  }
}

// The reply tuple of a live connection stays its own (I2). That of an expired one is taken over.
template <class Rule, class Tables>
std::optional<CreateOutcome> ConnectionTable<Rule, Tables>::refuse_reply(const Key& client_key,
                                                                         Connection& connection) {
  if constexpr (!kIsSameEnds<Rule>) {
    auto& replies = shared_->replies;
    if (!replies.is_seen(connection)) return {};
    if (replies.is_bound(connection)) {
      if (bind_port(client_key, connection)) return {};
      return CreateOutcome::kNoPort;
    }
    const Key reply_key = replies.key_of(client_key, connection);
    const uint32_t* leads_to = replies.find(reply_key);
    if (leads_to == nullptr) return {};
    if (!replies.is_binding(*leads_to) &&
        connections_.find(replies.client_key_of(reply_key, *leads_to)) == nullptr) {
      return {};
    }
    return CreateOutcome::kReplyTupleTaken;
  }
  return {};
}

template <class Rule, class Tables>
CreateOutcome ConnectionTable<Rule, Tables>::create_connection(const Key& client_key,
                                                               Connection& connection,
                                                               const StateTimeouts& timeouts) {
  if (const auto refusal = refuse_reply(client_key, connection)) return *refusal;
  if (!has_room_for(1) && !make_room(timeouts)) return CreateOutcome::kFull;
  // The client's entry first: it may reclaim an expired one of the same tuple, and with it goes
  // the reply entry that is still that one's.
  //
  // Both tables promise room, but not to keys chosen by a party that knows the hash seed.
  const TickCount timeout = connection.timeout(timeouts);
  const InsertOutcome outcome = connections_.insert(client_key, connection, timeout);
  shared_->forget_replies();
  if (outcome == InsertOutcome::kFull) return CreateOutcome::kFull;
  if (!shared_->replies.insert(client_key, connection)) {
    connections_.erase(client_key);
    return CreateOutcome::kFull;
  }
  ++shared_->counts.created;
  return CreateOutcome::kCreated;
}

// The clients' entries first, as above. Whose reply entry is not made that way has one of an
// expired connection in its way, or is refused.
template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::create_connections(NewConnections<Key>& made) {
  ROOST_DEBUG_ASSERT(has_room_for(made.count));
  std::array<InsertOutcome, net::kBatchLanesMax> inserted;
  connections_.upsert(made.asked(), std::span(made.connections), std::span(inserted),
                      std::span<const TickCount>(made.timeouts));
  shared_->forget_replies();
  for (size_t i = 0; i < made.count; ++i) {
    made.outcomes[i] = inserted[i] == InsertOutcome::kInserted ? CreateOutcome::kCreated
                       : is_refusal(inserted[i])               ? CreateOutcome::kFull
                                                               : CreateOutcome::kExisting;
  }
  std::array<uint8_t, net::kBatchLanesMax> refused;
  const size_t refused_count = shared_->replies.insert(made, std::span(refused));
  for (const uint8_t i : std::span(refused).first(refused_count)) {
    const Key& client_key = made.keys[i];
    if (const auto refusal = refuse_reply(client_key, made.connections[i])) {
      made.outcomes[i] = *refusal;
    } else if (!shared_->replies.insert(client_key, made.connections[i])) {
      made.outcomes[i] = CreateOutcome::kFull;
    } else {
      continue;
    }
    connections_.erase(client_key);
  }
  shared_->counts.created += static_cast<uint64_t>(
      std::ranges::count(std::span(made.outcomes).first(made.count), CreateOutcome::kCreated));
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::update(Connection& connection, Sender sender,
                                           const std::optional<net::TcpSegment>& segment,
                                           const StateTimeouts& timeouts) {
  const bool was_over = is_over(connection.state, false);
  const bool was_assured = connection.assurance == Assurance::kAssured;
  if (segment) connection.update(sender, *segment, !shared_->replies.is_seen(connection));
  TickCount timeout = connection.timeout(timeouts);
  if (has_streams(connection.state) && connection.assurance != Assurance::kAssured) {
    const bool has_come_to_an_end = !was_over && is_over(connection.state, false);
    if (!was_assured && !has_come_to_an_end) return;
    timeout = std::min(timeout, ticks_left(connection));
  }
  connections_.refresh(&connection, timeout);
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::begin_anew(Connection& connection, net::IpProtocol protocol,
                                               const net::TcpSegment& segment,
                                               const StateTimeouts& timeouts) {
  shared_->replies.rule().over(connection);
  ++shared_->counts.ended;
  ++shared_->counts.created;
  connection.begin(protocol, segment, !shared_->replies.is_seen(connection));
  connections_.refresh(&connection, connection.timeout(timeouts));
}

template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::maintain(uint64_t bucket_budget) {
  const uint64_t bucket_count = connections_.bucket_count();
  const uint64_t ticks = std::min(connections_.now().count - swept_until_.count, pass_ticks_);
  swept_until_ = connections_.now();
  buckets_due_ = std::min(buckets_due_ + ticks * (bucket_count / pass_ticks_ + 1), bucket_count);
  const uint64_t buckets = std::min(buckets_due_, bucket_budget);
  if (buckets == 0) return;
  reclaim(buckets);
  buckets_due_ -= buckets;
}

template <class Rule, class Tables>
template <class IsOwner>
bool ConnectionTable<Rule, Tables>::is_readable(IsOwner&& is_owner)
  requires(!kIsSameEnds<Rule> && std::same_as<Tables, OwnTables>)
{
  return !connections_.audit() && shared_->replies.leads_somewhere(is_owner) &&
         has_owners(is_owner);
}

template <class Rule, class Tables>
template <class Visit>
void ConnectionTable<Rule, Tables>::adopt(Visit&& visit) {
  swept_until_ = connections_.now();
  shared_->counts.adopted = connections_.size();
  settle();
  connections_.for_each([&](const Key&, Connection& connection) { visit(connection); });
}

// The key is a copy, because the caller's may be the entry's own.
template <class Rule, class Tables>
void ConnectionTable<Rule, Tables>::remove(Key client_key, const Connection& connection) {
  shared_->replies.rule().over(connection);
  if constexpr (kHoldsEntries<Rule>) shared_->replies.rule().removed(client_key, connection);
  const OverConnection<Key> over{client_key, connection};
  if (shared_->replies.is_seen(connection)) shared_->replies.forget(std::span(&over, 1));
  const bool is_erased = connections_.erase(client_key);
  ROOST_ASSERT(is_erased);
}

template <class Rule, class Tables>
uint32_t& ConnectionTable<Rule, Tables>::note_of(const Key& client_key,
                                                 const Connection& connection)
  requires(!kIsSameEnds<Rule>)
{
  return shared_->replies.note_of(client_key, connection);
}

template <class Rule, class Tables>
uint64_t ConnectionTable<Rule, Tables>::count_live() {
  uint64_t live = 0;
  if (is_elsewhere_) return live;
  connections_.for_each([&](const Key&, const Connection&) { ++live; });
  return live;
}

template <class Rule, class Tables>
bool ConnectionTable<Rule, Tables>::audit() {
  if (is_elsewhere_) return true;
  auto& replies = shared_->replies;
  std::vector<std::pair<Key, Connection>> live;
  connections_.for_each([&](const Key& client_key, const Connection& connection) {
    live.emplace_back(client_key, connection);
  });
  if (connections_.size() != live.size() || connections_.audit()) return false;
  if constexpr (!kIsSameEnds<Rule>) {
    uint64_t seen = 0;
    uint64_t bound = 0;
    for (const auto& [client_key, connection] : live) {
      if (!replies.is_seen(connection)) continue;
      if (!replies.has_own(client_key, connection)) return false;
      ++seen;
      if (replies.is_bound(connection)) ++bound;
    }
    return replies.audit(seen, bound);
  }
  return true;
}

}  // namespace roost::conntrack
