// The connections of one family: two tables and one timer.
//
// A connection is one entry in `connections`, under what its client sends: (client, virtual
// address). What its backend sends is another tuple, (backend, client), because addresses are
// translated on the way; an entry of `replies` leads from that to the service, and so to the
// client's tuple and to the connection. Only `connections` has timers:
//
//   client packet   -> connections                       one lookup
//   backend packet  -> replies -> service -> connections  two
//
// In the mode `fullnat` the backend speaks with a local port of the balancer instead: its tuple is
// (backend, local port), and the entry of `replies` leads to a lease, which names client and
// service. Where backends answer past the balancer, connections have no reply entry.
//
// I1 Every entry of `connections`, live or expired but not yet handed over, has an entry in
//    `replies` that names its service or its lease, unless its mode is one-sided, or another
//    connection took that entry over after this one expired.
// I2 An entry of `replies` belongs to exactly one entry of `connections`: the one whose tuple is
//    (client, virtual address of the named service). That one has the backend of the reply tuple,
//    because a connection keeps its backend, and takes its reply entry along when it is over.
// I3 made = live + ended + expired + deleted + evicted, whenever no expired entry waits to be
// handed over (settle()).
// I4 There are never more entries than Config::connections, which both tables promise to hold.
//
// Both directions live and die together: the sink that gets a dying connection removes its reply
// entry, if it still is its own, and counts it once: ended, if TCP had closed it, else expired.
//
// When all places are taken, a new connection gets that of one that is closed or embryonic, if a
// hand that goes round the buckets finds one within its next few; it spares an embryonic one once.
// A flood of packets that nobody answers, or whose answers nobody takes, evicts itself. Where the
// hand finds confirmed connections only, it takes the one that has been silent for the largest part
// of its time, if that is long enough (decisions 0010 and 0015). Local ports likewise: one whose
// connection is dead, closed or embryonic is taken over when no other is free.
//
// Two services may share a backend; then one client could reach it twice from the same port, and
// both connections would have the same reply tuple. The first one keeps it while it lives.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "apps/lb/connection.h"
#include "apps/lb/connection_state.h"
#include "apps/lb/local_ports.h"
#include "apps/lb/service_table.h"
#include "apps/lb/tables.h"
#include "roost/base/result.h"
#include "roost/net/packet_batch.h"
#include "roost/table/advance_far.h"
#include "roost/table/cursor.h"

namespace roost::lb {

struct FlowCounts {
  uint64_t made = 0;
  uint64_t ended = 0;    // TCP: closed, and silent for the closing time or followed by the next one
  uint64_t expired = 0;  // silent for too long
  uint64_t deleted = 0;  // because somebody asked for it
  uint64_t evicted = 0;  // for a new one, when all places or local ports were taken

  // Live ones, and expired ones not handed over yet: for Config::pass_ticks at most.
  [[nodiscard]] uint64_t held() const { return made - ended - expired - deleted - evicted; }

  FlowCounts& operator+=(const FlowCounts& other) {
    made += other.made;
    ended += other.ended;
    expired += other.expired;
    deleted += other.deleted;
    evicted += other.evicted;
    return *this;
  }
};

enum class MakeOutcome : uint8_t { kMade, kReplyTupleTaken, kNoLocalPort, kFull };

// One worker uses it. `Tables`: see tables.h; its definitions are in connection_table_impl.h.
template <class Address, class Tables = OwnTables>
class ConnectionTable {
 public:
  using Key = net::FlowKey<Address>;
  using Endpoint = net::Endpoint<Address>;
  using Services = ServiceTable<Address>;

  struct Config {
    uint64_t connections = 0;  // that fit
    std::optional<uint64_t> hash_seed{};
    typename LocalPorts<Address>::Config local_ports{};  // none: no backend may be `fullnat`
    // A confirmed connection is evicted after so long a silence only, or half its timeout.
    TickCount silence_ticks_min = 10;
    // Within this time every bucket is swept, so that the counts are no older.
    TickCount pass_ticks = 5;
  };

  // `services` must outlive the table and stay where it is.
  static Result<ConnectionTable> create(const Config& config, Services& services);

  // Whom a packet's tuple belongs to. The pointer is valid until make() or time
  // changes the table.
  struct Match {
    Connection* connection = nullptr;  // nullptr: nobody
    Sender sender = Sender::kClient;
    Endpoint client{};  // if the sender is the backend
  };

  // A whole batch, at most net::kBatchLanesMax keys; every match is written.
  void find(std::span<const Key> keys, std::span<Match> matches);
  [[nodiscard]] Match find(const Key& key) {
    Match match;
    find(std::span(&key, 1), std::span(&match, 1));
    return match;
  }

  // Makes a connection, which must not be there, with both its entries or, if that cannot be,
  // with none. Pointers from find() are no longer valid. When all places are taken, it takes one in
  // the next kRoomBuckets buckets or is refused. In `fullnat` it chooses the local port and says it
  // in `connection`; kNoLocalPort: kLocalPortsTried of its backend's are taken by confirmed
  // connections.
  [[nodiscard]] MakeOutcome make(const Key& client_key, Connection& connection,
                                 const StateTimeouts& timeouts);
  static constexpr uint64_t kLocalPortsTried = 128;

  // The connection's closed predecessor has ended; it begins anew in its place.
  void count_restart(const Connection& connection) {
    ++shared_->services->backend(connection.backend).counters.flows_over;
    ++shared_->counts.ended;
    ++shared_->counts.made;
  }

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
  void advance(Tick now) { advance_far(connections_, now); }
  // Hands over expired connections among the next buckets, at most `bucket_budget` of them and no
  // more than it takes to see every bucket once in Config::pass_ticks: sweeping costs cache lines.
  void maintain(uint64_t bucket_budget);
  // Hands over every expired connection, so that the counts are exact. Linear in the capacity.
  void settle() { connections_.maintain(connections_.bucket_count()); }

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
  // As far as make() looks for a place, for expired and then for others: two stretches of memory of
  // two kilobytes. Where one connection in ten may be evicted, one search in 200 finds none.
  static constexpr uint64_t kRoomBuckets = 32;

  [[nodiscard]] const LocalPorts<Address>& local_ports() const { return shared_->local_ports; }
  // With what the backend of a connection speaks, in `fullnat`.
  [[nodiscard]] Endpoint local_endpoint(const Connection& connection) const {
    return shared_->local_ports.endpoint(connection.local);
  }
  // Every client tuple has its reply tuple and the other way round (I1, I2); settle() first.
  // Linear in the capacity.
  [[nodiscard]] bool audit();

  [[nodiscard]] uint64_t capacity() const { return connections_.capacity(); }
  // Connections held: live ones, and expired ones that were not handed over yet.
  [[nodiscard]] uint64_t size() const { return connections_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return connections_.memory_bytes() + shared_->replies.memory_bytes() +
           shared_->leases.memory_bytes();
  }
  [[nodiscard]] PageKind page_kind() const { return connections_.page_kind(); }
  [[nodiscard]] Isa isa() const { return connections_.isa(); }

 private:
  using Replies = typename Tables::template Plain<Key, uint32_t>;

  static constexpr uint32_t kSilentWhole = 1 << 16;
  static_assert(uint64_t{kTimeoutTicksMax} * kSilentWhole <= UINT32_MAX);

  // What a dying connection changes; at a fixed place, because the sink points to it.
  struct Shared {
    Replies replies;
    LocalPorts<Address> local_ports;
    LeasePool<Address> leases;
    Services* services;
    FlowCounts counts{};

    // What the backend of this connection sends.
    [[nodiscard]] Key reply_key_of(const Key& client_key, const Connection& connection) const;
    // What the client of this reply sends, if the reply leads to a service or lease.
    [[nodiscard]] Key client_key_of(const Key& reply_key, uint32_t leads_to) const;
    // Makes a connection's reply entry, if its mode has one; false: there is no room.
    [[nodiscard]] bool insert_reply(const Key& client_key, const Connection& connection);
    // A connection is over: its reply entry goes, if it still is its own.
    void forget_reply(const Key& client_key, const Connection& connection);
    // Gives the connection the local port whose turn it is with its backend; false: none is free.
    [[nodiscard]] bool choose_free_port(const Key& client_key, Connection& connection,
                                        uint64_t turn);
  };

  // Called for each connection that died by expiry.
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

  // An entry of `replies` is a service's index, or a lease's with this bit.
  static constexpr uint32_t kIsLease = uint32_t{1} << 31;

  // Why the connection cannot have its reply entry; chooses its local port if it needs one.
  [[nodiscard]] std::optional<MakeOutcome> refuse_reply(const Key& client_key,
                                                        Connection& connection);
  // The local port whose turn it is with the connection's backend, or one that it takes from
  // another; false: there is none.
  [[nodiscard]] bool choose_local_port(const Key& client_key, Connection& connection);
  [[nodiscard]] bool take_over_port(const Key& reply_key);
  void remove(Key client_key, const Connection& connection);
  bool make_room(const StateTimeouts& timeouts);
  // For which part of its time, in kSilentWhole-ths, a connection has been silent; 0 if that is not
  // long enough to evict it.
  [[nodiscard]] uint32_t silent_part(const Connection& connection,
                                     const StateTimeouts& timeouts) const;
  // Ends a connection for another one's sake.
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
};

extern template class ConnectionTable<net::Ipv4Address>;
extern template class ConnectionTable<net::Ipv6Address>;

}  // namespace roost::lb
