// The connections of one family: a table with timers, and the entries by which replies find them.
//
// A connection is one entry in `connections`, under what its client sends. What its server sends is
// that with its ends exchanged, or, where addresses are translated, another tuple, whose entry in
// `replies` leads to the client's (reply_rule.h). Only `connections` has timers:
//
//   client's packet  -> connections             one lookup
//   server's packet  -> replies -> connections  two; of the same ends one more in connections
//
// I1 Every entry of `connections`, live or expired but not yet reclaimed, has an entry in `replies`
//    that leads to it, if its rule has one, unless another connection took that entry over after
//    this one expired.
// I2 An entry of `replies` belongs to exactly one entry of `connections`: the one whose key the
//    rule finds by it.
// I3 created + adopted = live + ended + expired + deleted + evicted + moved, whenever no
//    expired entry waits to be reclaimed (settle()).
// I4 There are never more entries than Config::connections, which both tables promise to hold.
//
// Both directions begin and end together: the callback that gets an expired connection removes its
// reply entry, if it still is its own, and counts it once: ended, if TCP had closed it, else
// expired.
//
// When all places are taken, one is evicted, or none: connection_eviction_impl.h.
//
// Two servers may be one station; then one client could reach it twice from the same port, and both
// connections would have the same reply tuple. The first one keeps it while it lives.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "roost/base/result.h"
#include "roost/conntrack/connection.h"
#include "roost/conntrack/connection_state.h"
#include "roost/conntrack/flow_counts.h"
#include "roost/conntrack/new_connections.h"
#include "roost/conntrack/reply_rule.h"
#include "roost/conntrack/reply_table.h"
#include "roost/conntrack/same_ends_replies.h"
#include "roost/conntrack/tables.h"
#include "roost/net/packet_batch.h"
#include "roost/net/tcp_segment.h"
#include "roost/table/advance_far.h"
#include "roost/table/cursor.h"

namespace roost::conntrack {

// One worker uses it. `Rule`: see reply_rule.h, `Tables`: tables.h. The definitions are in
// connection_table_impl.h, for the sources that instantiate it.
template <class Rule, class Tables = OwnTables>
class ConnectionTable {
 public:
  using Address = typename Rule::Address;
  using Key = net::FlowKey<Address>;
  using Endpoint = net::Endpoint<Address>;

  struct Config {
    uint64_t connections = 0;  // that fit
    std::optional<uint64_t> hash_seed{};
    typename BindablePorts<Address>::Config ports{};  // none: no connection may be bound
    // An assured connection is evicted after so long a silence only, or half its timeout.
    TickCount silence_ticks_min = 10;
    // Within this time every bucket is swept, so that the counts are no older.
    TickCount pass_ticks = 5;
    TableMemory memory{};  // else its own
  };

  static Result<ConnectionTable> create(const Config& config, Rule rule, const Tables& tables = {});

  // The connection of a tuple. The pointer is valid until create_connection() or time changes the
  // table.
  struct Match {
    Connection* connection = nullptr;  // nullptr: none
    Sender sender = Sender::kClient;
    Endpoint client{};  // if the sender is the server
  };

  // Asks for the memory that find() begins with, and returns what it takes beside the key.
  [[nodiscard]] Hash64 prefetch(const Key& key) const { return connections_.prefetch(key); }
  // A whole batch, at most net::kBatchLanesMax keys; every match is written.
  void find(const PrefetchedKeys<std::span<const Key>>& keys, std::span<Match> matches);
  [[nodiscard]] Match find(const Key& key) {
    Match match;
    const Hash64 hash = prefetch(key);
    find({std::span(&key, 1), std::span(&hash, 1)}, std::span(&match, 1));
    return match;
  }

  // Asks for what creating it will look at first, if its owner is the one of this connection, and
  // returns what create_connections() takes beside the key.
  [[nodiscard]] Hash64 ask_for_reply(const Key& client_key, const Connection& connection) {
    return shared_->replies.ask_for(client_key, connection);
  }

  // Makes a connection, which must not be there, with both its entries or, if that cannot be,
  // with none. Pointers from find() are no longer valid. When all places are taken, it takes one in
  // the next kRoomBuckets buckets or is refused. One that is bound to a port says it in
  // `connection`; kNoPort: those tried for its server are taken by assured connections.
  [[nodiscard]] CreateOutcome create_connection(const Key& client_key, Connection& connection,
                                                const StateTimeouts& timeouts);

  // Makes connections together, in their order, and says what became of each: kExisting, if its
  // tuple was there. There must be room for all, and their owners be known; none may be bound.
  // Pointers from find() are no longer valid.
  void create_connections(NewConnections<Key>& made);
  // Whether there are places for so many more.
  [[nodiscard]] bool has_room_for(size_t count) const {
    return connections_.size() + count <= connections_max_;
  }

  // Updates the connection's state and timeout by a packet of it. A later fragment has no segment
  // and leaves the state as it is. Until TCP is assured, nothing but its end changes how long it
  // has left, so that only its ends can keep one alive; one that is assured no longer has the time
  // of a SYN.
  void update(Connection& connection, Sender sender, const std::optional<net::TcpSegment>& segment,
              const StateTimeouts& timeouts);

  // The client's packet begins another connection where its closed one was (begins_anew()).
  void begin_anew(Connection& connection, net::IpProtocol protocol, const net::TcpSegment& segment,
                  const StateTimeouts& timeouts);

  // The closed connection of this tuple is over; pointers from find() are no longer valid.
  void end(const Key& client_key, const Connection& connection) {
    remove(client_key, connection);
    ++shared_->counts.ended;
  }

  // The connection was used: it expires after `timeout` from now on.
  void refresh(const Connection& connection, TickCount timeout) {
    connections_.refresh(&connection, timeout);
  }
  // How long it lives on if it is not used.
  [[nodiscard]] TickCount ticks_left(const Connection& connection) const {
    return connections_.ticks_left(&connection);
  }

  // Moves time forward, however far. Usually constant time; when time jumps past what the overflow
  // scan covers, linear in the capacity.
  void advance(Tick now) {
    advance_far(connections_, now);
    shared_->forget_replies();
  }
  // Reclaims expired connections among the next buckets, at most `bucket_budget` of them and no
  // more than it takes to see every bucket once in Config::pass_ticks: sweeping costs cache lines.
  void maintain(uint64_t bucket_budget);
  // Reclaims every expired connection, so that the counts are exact. Linear in the capacity.
  void settle() {
    if (!is_elsewhere_) reclaim(connections_.bucket_count());
  }

  [[nodiscard]] const FlowCounts& counts() const { return shared_->counts; }
  // Connections that are live now, counted one by one. Linear in the capacity.
  [[nodiscard]] uint64_t count_live();
  // A place in a walk over the connections, and how far it goes at a time.
  using WalkCursor = Cursor;
  // Calls visit(const Key& client_key, const Connection&) for each live connection in the next
  // `bucket_budget` buckets, at most kWalkBucketConnectionsMax in each; where it returns true, the
  // connection is deleted. False when the walk is at its end.
  template <class Visit>
  bool walk(WalkCursor& cursor, uint64_t bucket_budget, Visit&& visit) {
    return connections_.scan(cursor, bucket_budget,
                             [&](const Key& client_key, const Connection& connection) {
                               if (!visit(client_key, connection)) return;
                               remove(client_key, connection);
                               ++shared_->counts.deleted;
                             });
  }
  static constexpr size_t kWalkBucketConnectionsMax = 8;
  // As far as create_connection() looks for a place, for expired and then for others: two stretches
  // of memory of two kilobytes. Where one connection in ten may be evicted, one search in 200 finds
  // none.
  static constexpr uint64_t kRoomBuckets = 32;

  [[nodiscard]] const BindablePorts<Address>& ports() const
    requires(!kIsSameEnds<Rule>)
  {
    return shared_->replies.ports();
  }
  // The end that the server of a bound connection sends to.
  [[nodiscard]] Endpoint bound_end(const Connection& connection) const
    requires(!kIsSameEnds<Rule>)
  {
    return shared_->replies.bound_end(connection);
  }
  // The function's own word of a live bound connection, until the next one begins or ends; first 0.
  [[nodiscard]] uint32_t& note_of(const Key& client_key, const Connection& connection)
    requires(!kIsSameEnds<Rule>);
  // The end of any connection; nothing if it is not bound.
  [[nodiscard]] std::optional<Endpoint> find_bound_end(const Connection& connection) const {
    if constexpr (!kIsSameEnds<Rule>) {
      if (shared_->replies.is_bound(connection)) return bound_end(connection);
    } else if constexpr (kHoldsEntries<Rule>) {
      return shared_->replies.rule().bound_end(connection);
    }
    return {};
  }
  // Of adopted memory, whether all connections that live have an owner that there is. Only reads.
  // Linear in the capacity.
  template <class IsOwner>
  [[nodiscard]] bool has_owners(IsOwner&& is_owner) {
    bool has_all = true;
    connections_.for_each([&](const Key&, const Connection& connection) {
      has_all = has_all && is_owner(connection.owner);
    });
    return has_all;
  }
  // The same, of memory that a process left; of what replies lead to, too. With it, all that is
  // there can be read; that it belongs together, audit() says, after adopt().
  template <class IsOwner>
  [[nodiscard]] bool is_readable(IsOwner&& is_owner)
    requires(!kIsSameEnds<Rule> && std::same_as<Tables, OwnTables>);
  // What is in adopted memory is this table's from now on, and counted; visit(Connection&) is
  // called for each one that lives. Linear in the capacity.
  template <class Visit>
  void adopt(Visit&& visit);
  // All that is there is another process's from now on; nothing here looks at it any more.
  void move_out() {
    shared_->counts.moved = connections_.size();
    is_elsewhere_ = true;
  }
  // Every connection has its reply entry and the other way round (I1, I2); settle() first. Linear.
  [[nodiscard]] bool audit();

  [[nodiscard]] uint64_t capacity() const { return connections_.capacity(); }
  // Connections held: live ones, and expired ones that were not reclaimed yet.
  [[nodiscard]] uint64_t size() const { return connections_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return connections_.memory_bytes() + shared_->replies.memory_bytes();
  }
  // What memory_bytes() is of a table of this configuration, before there is one.
  [[nodiscard]] static Result<uint64_t> bytes_for(const Config& config)
    requires std::same_as<Tables, OwnTables>
  {
    Result<uint64_t> connections = Connections::bytes_for(connections_config(config));
    Result<uint64_t> replies = Replies::bytes_for(replies_config(config));
    if (!connections) return connections;
    if (!replies) return replies;
    return connections.value() + replies.value();
  }
  // What Config::memory must have.
  [[nodiscard]] static Result<TableBytes> bytes_to_lend(const Config& config)
    requires std::same_as<Tables, OwnTables>;
  // The slots that capacity() counts, likewise, before they are rounded up to whole buckets.
  [[nodiscard]] static uint64_t slots_wanted(uint64_t connections) {
    return slots_for<Connections>(connections);
  }
  [[nodiscard]] PageKind page_kind() const { return connections_.page_kind(); }
  [[nodiscard]] Isa isa() const { return connections_.isa(); }

 private:
  static constexpr uint32_t kSilentWhole = 1 << 16;
  static_assert(uint64_t{kTimeoutTicksMax} * kSilentWhole <= UINT32_MAX);

  using Replies = ReplyTable<Rule, Tables>;
  // What an expired connection changes; at a fixed place, because the callback points to it.
  struct Shared {
    Replies replies;
    FlowCounts counts{};
    // Of connections that a sweep or an insert has just reclaimed, whose reply entries are still
    // there. Together they cost one wait for memory, one by one each its own.
    std::array<OverConnection<Key>, Replies::kForgottenMax> over;
    size_t over_count = 0;

    void forget_replies() {
      replies.forget(std::span<const OverConnection<Key>>(over).first(over_count));
      over_count = 0;
    }
  };

  // Called for each connection that has expired.
  struct ConnectionEnded {
    Shared* shared = nullptr;
    void operator()(const Key& client_key, const Connection& connection) const;
  };

  using Connections = typename Tables::template Timed<Key, Connection, ConnectionEnded>;
  static_assert(Connections::kSlots <= kWalkBucketConnectionsMax);

  ConnectionTable(std::unique_ptr<Shared> shared, Connections connections, const Config& config)
      : shared_(std::move(shared)),
        connections_(std::move(connections)),
        connections_max_(config.connections),
        silence_ticks_min_(config.silence_ticks_min),
        pass_ticks_(std::max<TickCount>(1, config.pass_ticks)) {}

  [[nodiscard]] static TableConfig connections_config(const Config& config) {
    if (config.memory.is_adopted) return {.memory = config.memory.connections};
    return {.capacity = slots_for<Connections>(config.connections),
            .entries_max = config.connections,
            .hash_seed = config.hash_seed,
            .memory = config.memory.connections};
  }
  [[nodiscard]] static ReplyConfig<Address> replies_config(const Config& config) {
    return {.connections = config.connections,
            .hash_seed = config.hash_seed,
            .ports = config.ports,
            .memory = config.memory};
  }
  // Why the connection cannot have its reply entry; binds its port if it needs one.
  [[nodiscard]] std::optional<CreateOutcome> refuse_reply(const Key& client_key,
                                                          Connection& connection);
  // Binds the port whose turn it is with the connection's server, or one that it takes from
  // another; false: there is none.
  [[nodiscard]] bool bind_port(const Key& client_key, Connection& connection)
    requires(!kIsSameEnds<Rule>);
  [[nodiscard]] bool take_over_port(const Key& reply_key)
    requires(!kIsSameEnds<Rule>);
  void remove(Key client_key, const Connection& connection);
  // Reclaims what has expired in the next buckets.
  void reclaim(uint64_t bucket_budget) {
    connections_.maintain(bucket_budget);
    shared_->forget_replies();
  }
  bool make_room(const StateTimeouts& timeouts);
  // By the connection's own timeouts, where the rule knows of several; else by those given.
  [[nodiscard]] TickCount timeout_of(const Connection& connection,
                                     const StateTimeouts& timeouts) const {
    if constexpr (kHasTimeouts<Rule>) {
      return connection.timeout(shared_->replies.rule().timeouts_of(connection));
    } else {
      return connection.timeout(timeouts);
    }
  }
  // For which part of its time, in kSilentWhole-ths, a connection has been silent; 0 if that is not
  // long enough to evict it.
  [[nodiscard]] uint32_t silent_part(const Connection& connection,
                                     const StateTimeouts& timeouts) const;
  // Evicts a connection for a new one.
  void give_up(const Key& client_key, const Connection& connection);
  void find_replies(std::span<const Key> keys, std::span<const uint8_t> lanes,
                    std::span<Match> matches);

  std::unique_ptr<Shared> shared_;
  Connections connections_;
  uint64_t connections_max_;
  TickCount silence_ticks_min_;
  uint64_t pass_ticks_;
  WalkCursor hand_{};         // where make_room() goes on
  Tick swept_until_{};        // time up to which buckets_due_ is counted
  uint64_t buckets_due_ = 0;  // to be swept
  bool is_elsewhere_ = false;
};

}  // namespace roost::conntrack
