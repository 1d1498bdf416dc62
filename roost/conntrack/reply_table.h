// A reply's connection: an entry for each connection with visible replies, under its reply tuple,
// which leads to an owner of the rule's, or to a port binding.
//
// One worker uses it, through ConnectionTable.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/conntrack/new_connections.h"
#include "roost/conntrack/port_bindings.h"
#include "roost/conntrack/reply_rule.h"
#include "roost/conntrack/tables.h"
#include "roost/net/packet_batch.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// The slots of a table that takes so many connections: 5 % below the load up to which a table can
// promise to accept entries, so that inserts stay short. Small tables get twice the room.
template <class Table>
[[nodiscard]] uint64_t slots_for(uint64_t connections) {
  constexpr uint64_t kSmall = 4'096;
  constexpr double kLoad = Table::kPromisedLoad - 0.05;
  return connections < kSmall ? 2 * connections + 16
                              : static_cast<uint64_t>(static_cast<double>(connections) / kLoad) + 1;
}

template <class Address>
struct ReplyConfig {
  uint64_t connections = 0;
  std::optional<uint64_t> hash_seed{};
  typename BindablePorts<Address>::Config ports{};  // none: no connection may be bound
  TableMemory memory{};                             // else its own
};

// One that is over, by its client's key.
template <class Key>
struct OverConnection {
  Key client_key{};
  Connection connection{};
};

template <class Rule, class Tables>
class ReplyTable {
 public:
  using Address = typename Rule::Address;
  using Key = net::FlowKey<Address>;
  using Endpoint = net::Endpoint<Address>;

  static constexpr uint64_t kPortsTried = 128;
  static constexpr size_t kForgottenMax = net::kBatchLanesMax;  // at a time

  static Result<ReplyTable> create(const ReplyConfig<Address>& config, Rule rule,
                                   const Tables& tables) {
    static_assert(ReplyRule<Rule>);
    auto entries = tables.template make_plain<Key, uint32_t>(entries_config(config));
    if (!entries) return entries.error();
    const uint64_t capacity = bindings_wanted(config);
    auto bindings = config.memory.is_adopted ? Bindings::adopt(capacity, config.memory.bindings)
                                             : Bindings::create(capacity, config.memory.bindings);
    if (!bindings) return bindings.error();
    return ReplyTable(std::move(entries).value(), std::move(bindings).value(), config.ports,
                      std::move(rule));
  }
  // What memory_bytes() is of a table of this configuration, before there is one.
  static Result<uint64_t> bytes_for(const ReplyConfig<Address>& config) {
    Result<uint64_t> entries = Entries::bytes_for(entries_config(config));
    if (!entries) return entries;
    return entries.value() + Bindings::bytes_for(bindings_wanted(config));
  }
  // What ReplyConfig::memory must have.
  static std::optional<Error> add_bytes_to_lend(const ReplyConfig<Address>& config,
                                                TableBytes& bytes) {
    const Result<uint64_t> entries = Entries::bytes_to_lend(entries_config(config));
    if (!entries) return entries.error();
    bytes.replies = entries.value();
    bytes.bindings = Bindings::bytes_for(bindings_wanted(config));
    return {};
  }

  [[nodiscard]] Rule& rule() { return rule_; }
  [[nodiscard]] const BindablePorts<Address>& ports() const { return ports_; }
  [[nodiscard]] Endpoint bound_end(const Connection& connection) const {
    return ports_.endpoint(connection.bound);
  }

  [[nodiscard]] bool is_seen(const Connection& connection) {
    return rule_.replies_of(connection) != Replies::kUnseen;
  }
  [[nodiscard]] bool is_bound(const Connection& connection) {
    return rule_.replies_of(connection) == Replies::kToBoundPort;
  }

  // From which of the pools of BindablePorts its server is addressed.
  [[nodiscard]] size_t pool_of(const Connection& connection) const {
    if constexpr (kHasPools<Rule>) return rule_.pool_of(connection);
    return 0;
  }

  // What the server of this connection sends.
  [[nodiscard]] Key key_of(const Key& client_key, const Connection& connection) {
    const Endpoint server = rule_.server_of(client_key, connection);
    const Endpoint peer = is_bound(connection)
                              ? bound_end(connection)
                              : Endpoint{client_key.source, client_key.source_port};
    return {server.address, peer.address, server.port, peer.port, client_key.protocol, {}};
  }

  // The client's tuple for this reply, if its entry leads there.
  [[nodiscard]] Key client_key_of(const Key& reply_key, uint32_t leads_to) {
    Endpoint client{reply_key.destination, reply_key.destination_port};
    uint32_t owner = leads_to;
    if (is_binding(leads_to)) {
      const PortBinding<Address>& binding = bindings_[leads_to & ~kIsBinding];
      client = binding.client;
      owner = binding.owner;
    }
    const Endpoint destination = rule_.destination_of(reply_key, owner);
    return {client.address,   destination.address, client.port,
            destination.port, reply_key.protocol,  {}};
  }

  // Where the entry leads that a reply has; nullptr when it has none.
  [[nodiscard]] const uint32_t* find(const Key& reply_key) { return entries_.find(reply_key); }
  [[nodiscard]] static bool is_binding(uint32_t leads_to) { return (leads_to & kIsBinding) != 0; }

  // The clients' keys of those of `lanes` whose keys are replies, and their lanes; how many.
  size_t find_clients(std::span<const Key> keys, std::span<const uint8_t> lanes,
                      std::span<Key> client_keys, std::span<uint8_t> client_lanes) {
    std::array<const Key*, net::kBatchLanesMax> reply_keys;
    for (size_t i = 0; i < lanes.size(); ++i) reply_keys[i] = &keys[lanes[i]];
    std::array<uint32_t, net::kBatchLanesMax> leads_to;
    HitArray<net::kBatchLanesMax> hits;
    const std::span<const Key* const> asked(reply_keys.data(), lanes.size());
    if (entries_.lookup(asked, std::span(leads_to), hits) == 0) return 0;
    size_t count = 0;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (!hits.test(i)) continue;
      client_keys[count] = client_key_of(*reply_keys[i], leads_to[i]);
      client_lanes[count++] = lanes[i];
    }
    return count;
  }

  // Makes a connection's entry, if it has one; false: there is no room.
  [[nodiscard]] bool insert(const Key& client_key, const Connection& connection) {
    if (!is_seen(connection)) return true;
    uint32_t leads_to = rule_.owner_of(connection);
    if (is_bound(connection)) {
      ROOST_DEBUG_ASSERT(leads_to <= UINT16_MAX);
      leads_to = kIsBinding | bindings_.take({{client_key.source, client_key.source_port},
                                              static_cast<uint16_t>(leads_to)});
    }
    if (entries_.insert(key_of(client_key, connection), leads_to) != InsertOutcome::kFull) {
      return true;
    }
    if (is_binding(leads_to)) bindings_.give_back(leads_to & ~kIsBinding);
    return false;
  }

  // Makes the entries of those that were created, have one and are not bound, where none is in the
  // way. Gives the lanes where one is, or there is no room, and how many.
  size_t insert(const NewConnections<Key>& made, std::span<uint8_t> refused) {
    constexpr size_t kMax = NewConnections<Key>::kMax;
    std::array<Key, kMax> reply_keys;
    std::array<Hash64, kMax> hashes;
    std::array<uint32_t, kMax> owners;
    std::array<uint8_t, kMax> lanes;
    size_t count = 0;
    for (size_t lane = 0; lane < made.count; ++lane) {
      const Connection& connection = made.connections[lane];
      if (made.outcomes[lane] != CreateOutcome::kCreated || !is_seen(connection)) continue;
      reply_keys[count] = key_of(made.keys[lane], connection);
      hashes[count] = made.reply_hashes[lane];
      owners[count] = rule_.owner_of(connection);
      lanes[count++] = static_cast<uint8_t>(lane);
    }
    std::array<InsertOutcome, kMax> outcomes;
    entries_.upsert(first_of(reply_keys, hashes, count), std::span(owners), std::span(outcomes));
    size_t refused_count = 0;
    for (size_t i = 0; i < count; ++i) {
      if (outcomes[i] != InsertOutcome::kInserted) refused[refused_count++] = lanes[i];
    }
    return refused_count;
  }

  // The function's own word of a bound connection that lives; 0 when it begins. Constant time.
  [[nodiscard]] uint32_t& note_of(const Key& client_key, const Connection& connection) {
    const uint32_t* leads_to = entries_.find(key_of(client_key, connection));
    ROOST_ASSERT(leads_to != nullptr && is_binding(*leads_to));
    return bindings_.note(*leads_to & ~kIsBinding);
  }

  // Asks for the entry that a connection would have, if it is known without binding a port; returns
  // its key's hash.
  [[nodiscard]] Hash64 ask_for(const Key& client_key, const Connection& connection) {
    if (!is_seen(connection) || is_bound(connection)) return {};
    return entries_.prefetch(key_of(client_key, connection));
  }

  // Connections whose replies are seen are over: their entries go, where these still are their own.
  // At most kForgottenMax.
  void forget(std::span<const OverConnection<Key>> over) {
    if (over.empty()) return;
    ROOST_DEBUG_ASSERT(over.size() <= kForgottenMax);
    std::array<Key, kForgottenMax> reply_keys;
    std::array<Hash64, kForgottenMax> hashes;
    std::array<uint32_t, kForgottenMax> leads_to;
    HitArray<kForgottenMax> hits;
    for (size_t i = 0; i < over.size(); ++i) {
      reply_keys[i] = key_of(over[i].client_key, over[i].connection);
      hashes[i] = entries_.prefetch(reply_keys[i]);
    }
    entries_.lookup(first_of(reply_keys, hashes, over.size()), std::span(leads_to), hits);
    size_t own = 0;
    for (size_t i = 0; i < over.size(); ++i) {
      // It may have been taken over.
      if (hits.test(i) && client_key_of(reply_keys[i], leads_to[i]) == over[i].client_key) {
        if (is_binding(leads_to[i])) bindings_.give_back(leads_to[i] & ~kIsBinding);
        reply_keys[own] = reply_keys[i];
        hashes[own++] = hashes[i];
      }
    }
    entries_.erase(first_of(reply_keys, hashes, own), hits);
  }
  void erase(const Key& reply_key, uint32_t leads_to) {
    if (is_binding(leads_to)) bindings_.give_back(leads_to & ~kIsBinding);
    entries_.erase(reply_key);
  }

  // Binds the connection to the port whose turn it is with its server; false: none of those tried
  // is free. The first candidate is nearly always free. An entry is a port that is taken, even if
  // its connection has expired and waits to be reclaimed.
  [[nodiscard]] bool bind_free_port(const Key& client_key, Connection& connection, uint64_t turn);

  // Whether this connection's entry is there and its own.
  [[nodiscard]] bool has_own(const Key& client_key, const Connection& connection) {
    const Key reply_key = key_of(client_key, connection);
    const uint32_t* leads_to = entries_.find(reply_key);
    return leads_to != nullptr && client_key_of(reply_key, *leads_to) == client_key;
  }
  // Whether all of it can be read: the table is sound, every entry leads to an owner that there is
  // or to a binding of one, and no binding is lost. Linear in the capacity; allocates.
  template <class IsOwner>
  [[nodiscard]] bool leads_somewhere(IsOwner&& is_owner) {
    if (entries_.audit()) return false;
    bool is_right = true;
    std::vector<uint32_t> taken;
    entries_.for_each([&](const Key&, uint32_t leads_to) {
      if (!is_binding(leads_to)) {
        is_right = is_right && is_owner(leads_to);
        return;
      }
      const uint32_t index = leads_to & ~kIsBinding;
      taken.push_back(index);
      is_right = is_right && index < bindings_.capacity() && is_owner(bindings_[index].owner);
    });
    return is_right && bindings_.audit(taken);
  }
  [[nodiscard]] uint64_t entries_max() const { return entries_.entries_max(); }
  // Whether there are so many entries, so many of them bindings, and the table is sound.
  [[nodiscard]] bool audit(uint64_t entry_count, uint64_t binding_count) {
    return entries_.size() == entry_count && bindings_.taken() == binding_count &&
           !entries_.audit();
  }
  [[nodiscard]] uint64_t memory_bytes() const {
    return entries_.memory_bytes() + bindings_.memory_bytes();
  }

 private:
  // Keys that were asked for, with their hashes.
  [[nodiscard]] static PrefetchedKeys<std::span<const Key>> first_of(std::span<const Key> keys,
                                                                     std::span<const Hash64> hashes,
                                                                     size_t count) {
    return {keys.first(count), hashes.first(count)};
  }

  using Entries = typename Tables::template Plain<Key, uint32_t>;
  using Bindings = PortBindingPool<Address>;

  // An entry is an owner, or a binding's index with this bit.
  static constexpr uint32_t kIsBinding = uint32_t{1} << 31;

  [[nodiscard]] static TableConfig entries_config(const ReplyConfig<Address>& config) {
    if (config.memory.is_adopted) return {.memory = config.memory.replies};
    return {.capacity = slots_for<Entries>(config.connections),
            .entries_max = config.connections,
            .hash_seed = config.hash_seed,
            .memory = config.memory.replies};
  }
  [[nodiscard]] static uint64_t bindings_wanted(const ReplyConfig<Address>& config) {
    const BindablePorts<Address> ports(config.ports);
    return ports.count(0) + ports.count(1) == 0 ? 0 : config.connections;
  }

  ReplyTable(Entries entries, Bindings bindings, typename BindablePorts<Address>::Config ports,
             Rule rule)
      : entries_(std::move(entries)),
        ports_(std::move(ports)),
        bindings_(std::move(bindings)),
        rule_(std::move(rule)) {}

  Entries entries_;
  BindablePorts<Address> ports_;
  Bindings bindings_;
  Rule rule_;
};

template <class Rule, class Tables>
bool ReplyTable<Rule, Tables>::bind_free_port(const Key& client_key, Connection& connection,
                                              uint64_t turn) {
  const size_t pool = pool_of(connection);
  const uint64_t candidates = std::min(ports_.count(pool), kPortsTried);
  std::array<Key, net::kBatchLanesMax> keys;
  std::array<uint32_t, net::kBatchLanesMax> values;
  HitArray<net::kBatchLanesMax> is_taken;
  for (uint64_t first = 0; first < candidates;) {
    const size_t count = first == 0 ? 1 : std::min(candidates - first, keys.size());
    for (size_t i = 0; i < count; ++i) {
      connection.bound = ports_.candidate(pool, turn, first + i);
      keys[i] = key_of(client_key, connection);
    }
    entries_.lookup(std::span<const Key>(keys).first(count), std::span(values), is_taken);
    for (size_t i = 0; i < count; ++i) {
      if (is_taken.test(i)) continue;
      connection.bound = ports_.candidate(pool, turn, first + i);
      return true;
    }
    first += count;
  }
  return false;
}

}  // namespace roost::conntrack
