// Connections that all threads share: one table from key to index, one record an index, and any
// thread may meet any key (X-87, X-88, CT-05).
//
// A packet's thread looks its key up and refreshes the record that it finds; another may be about
// to end that very connection. What holds, whoever meets whom:
//
// C1 A refresh and an end are each one compare-exchange on the record's life (record_life.h), so
//    one of them is first. A refresh that comes first keeps the connection; an end that comes first
//    makes the refresh a miss.
// C2 A connection is begun and ended under a lock of its key (one of many, by the key's hash), and
//    leaves the table before the lock is given back. So two threads that begin one key agree, and
//    what is in the table, for who has the lock, has not ended. Tables may overwrite on insert.
//    Lookups and refreshes take no lock.
// C3 What a thread has found stays that connection's, ended or not, until the thread passes a
//    quiescent state; only then may its record be another's (index_pool.h). So whoever sees a life
//    that has not ended may read the record's key, and an index found needs no second look at it.
// C4 A ConnectionId that is kept beyond that is told from later ones of its record by generation.
//
// Whose life has passed is over, but has not ended: it is not found any more, and is ended by
// reclaim() or by who begins its key anew.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/contestants/map_contestant.h"
#include "lab/store/index.h"
#include "lab/store/index_pool.h"
#include "lab/store/plain_table.h"
#include "lab/store/quiescent_states.h"
#include "lab/store/record_life.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/concurrent/atomic_words.h"
#include "roost/expiry/tick.h"
#include "roost/memory/arena.h"
#include "roost/table/insert_outcome.h"
#include "roost/table/lookup_actions.h"

namespace roost::lab {

// A connection by its record; indices are less than record_count().
struct ConnectionId {
  uint32_t index = 0;
  uint32_t generation = 0;

  friend bool operator==(const ConnectionId&, const ConnectionId&) = default;
};

// What one thread has done. Those of all threads: live = begun - ended - expired.
struct ConnectionCounts {
  uint64_t begun = 0;
  uint64_t ended = 0;    // by end()
  uint64_t expired = 0;  // reclaimed, or begun anew
};

// One thread's view of them. `Callback` is called with key and index once for each connection that
// ends, by the thread that ends it and before its index can be another's; threads may call it at
// the same time, and it must not call a view. `Words` are the operations on lives.
template <class KeyT, class Callback, class Words = AtomicWords>
class CommonRecords {
  static_assert(std::is_trivially_copyable_v<KeyT>);

 public:
  using Key = KeyT;
  using Views = std::vector<std::unique_ptr<CommonRecords>>;

  // A view for each view of an empty table, which has room for `record_count` keys.
  static Result<Views> create(std::vector<std::unique_ptr<SmallValues<Key>>> of_table,
                              uint32_t record_count, const ArenaOptions& memory,
                              const Callback& callback) {
    Result<Arena> records = Arena::map(record_count * sizeof(Record), memory);
    if (!records) return records.error();
    auto held =
        std::make_shared<Held>(std::move(records).value(), record_count, of_table.size(), callback);
    Views views;
    for (auto& view : of_table) {
      const auto thread = static_cast<unsigned>(views.size());
      views.push_back(
          std::unique_ptr<CommonRecords>(new CommonRecords(std::move(view), held, thread)));
    }
    return views;
  }

  CommonRecords(const CommonRecords&) = delete;
  CommonRecords& operator=(const CommonRecords&) = delete;
  // Nobody waits for its thread any more.
  ~CommonRecords() { held_->states.leave(thread_); }

  // The connections of those keys that have a live one, each refreshed: live through the `timeout`
  // ticks after this one. At most kIndexLanesMax keys; lanes that miss are untouched. Returns how
  // many.
  size_t touch(KeyPointers<Key> keys, Tick now, TickCount timeout, std::span<ConnectionId> out,
               HitWords hits) {
    std::array<uint32_t, kIndexLanesMax> indices;
    view_->lookup(keys, indices, hits);
    const RecordArray records{held_->memory.data(), sizeof(Record)};
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (hits.test(lane)) ask_for_record(records, indices[lane]);
    }
    uint32_t live = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (!hits.test(lane)) continue;
      const ConnectionId found = connection_at(indices[lane]);
      if (!refresh(found, now, timeout)) continue;
      out[lane] = found;
      live |= uint32_t{1} << lane;
    }
    hits.write_group(0, live);
    return static_cast<size_t>(std::popcount(live));
  }
  [[nodiscard]] std::optional<ConnectionId> touch(const Key& key, Tick now, TickCount timeout) {
    const Key* pointer = &key;
    ConnectionId found;
    HitArray<1> hits;
    if (touch({&pointer, 1}, now, timeout, {&found, 1}, hits) == 0) return {};
    return found;
  }

  // Refreshes a connection; false: it is over.
  [[nodiscard]] bool refresh(ConnectionId one, Tick now, TickCount timeout) {
    for (;;) {
      const RecordLife seen = life_of(one.index);
      if (seen.generation() != one.generation || !seen.is_live(now)) return false;
      const RecordLife refreshed = seen.refreshed(now, timeout);
      // The second packet of a tick stores nothing.
      if (refreshed == seen || replace_life(one.index, seen, refreshed)) return true;
    }
  }

  struct Begun {
    InsertOutcome outcome;      // kInserted: begun by this call. kUpdated: there was a live one,
                                // which is refreshed. kFull: no room in the table, or each record
                                // is in use or in a grace period
    ConnectionId connection{};  // if it is not kFull
  };
  [[nodiscard]] Begun begin(const Key& key, Tick now, TickCount timeout) {
    const std::scoped_lock guard(held_->lock_of(key));
    while (const std::optional<ConnectionId> there = find(key)) {
      if (refresh(*there, now, timeout)) return {InsertOutcome::kUpdated, *there};
      const RecordLife seen = life_of(there->index);
      if (seen.has_expired(now) && end_as_seen(there->index, seen)) ++counts_.expired;
    }
    const std::optional<uint32_t> index = held_->pool.take();
    if (!index) return {InsertOutcome::kFull};
    Record& made = record(*index);
    made.key = key;
    if (!view_->insert(key, *index)) {
      held_->pool.give_back(*index);
      return {InsertOutcome::kFull};
    }
    const RecordLife life = life_of(*index).next(now, timeout);
    Words::store(&made.life, life.word());  // with its key, to whoever sees it
    ++counts_.begun;
    return {InsertOutcome::kInserted, {*index, life.generation()}};
  }

  // Ends a connection, whether or not it has expired; false: somebody else has.
  bool end(ConnectionId one) {
    RecordLife seen = life_of(one.index);
    if (seen.generation() != one.generation || seen.has_ended()) return false;
    const std::scoped_lock guard(held_->lock_of(record(one.index).key));
    for (; !seen.has_ended(); seen = life_of(one.index)) {
      if (!end_as_seen(one.index, seen)) continue;
      ++counts_.ended;
      return true;
    }
    return false;
  }

  // Ends the connection of a record if it has expired; true: this call did. For walks over all
  // records, by any number of threads.
  bool reclaim(uint32_t index, Tick now) {
    const RecordLife seen = life_of(index);
    if (!seen.has_expired(now)) return false;
    const std::scoped_lock guard(held_->lock_of(record(index).key));
    if (!end_as_seen(index, seen)) return false;  // refreshed meanwhile, or ended
    ++counts_.expired;
    return true;
  }

  // The thread uses none of the indices any more that it was given. To be called once a batch:
  // until all threads have done so, no record of a connection that is over is another's.
  void quiescent() { held_->states.pass(thread_); }

  [[nodiscard]] const ConnectionCounts& counts() const { return counts_; }
  [[nodiscard]] uint32_t record_count() const { return held_->record_count; }

 private:
  // In one line.
  struct alignas(32) Record {
    uint64_t life;
    Key key;
  };
  static_assert(sizeof(Record) == 32 || sizeof(Record) % 64 == 0);

  struct alignas(64) KeyLock {
    std::mutex mutex;
  };
  static_assert(sizeof(KeyLock) == 64, "neighbours are not waited for");
  static constexpr size_t kKeyLocks = 1'024;

  struct Held {
    Held(Arena records, uint32_t records_wanted, size_t threads, const Callback& called)
        : memory(std::move(records)),
          record_count(records_wanted),
          states(threads),
          pool(records_wanted, states),
          key_locks(kKeyLocks),
          callback(called) {}

    [[nodiscard]] std::mutex& lock_of(const Key& key) {
      return key_locks[hash(key) % kKeyLocks].mutex;
    }

    Arena memory;
    uint32_t record_count;
    QuiescentStates states;
    IndexPool pool;
    std::vector<KeyLock> key_locks;
    KeyHash<Key> hash{};
    Callback callback;
  };

  CommonRecords(std::unique_ptr<SmallValues<Key>> view, std::shared_ptr<Held> held, unsigned thread)
      : view_(std::move(view)), held_(std::move(held)), thread_(thread) {}

  [[nodiscard]] Record& record(uint32_t index) const {
    return reinterpret_cast<Record*>(held_->memory.data())[index];
  }
  // Who sees the life of a connection sees its key: an acquire, which pairs with the store in
  // begin().
  [[nodiscard]] RecordLife life_of(uint32_t index) const {
    return RecordLife(Words::load(&record(index).life));
  }
  [[nodiscard]] bool replace_life(uint32_t index, RecordLife seen, RecordLife life) {
    return Words::replace(&record(index).life, seen.word(), life.word());
  }
  [[nodiscard]] ConnectionId connection_at(uint32_t index) const {
    return {index, life_of(index).generation()};
  }
  [[nodiscard]] std::optional<ConnectionId> find(const Key& key) {
    const Key* pointer = &key;
    uint32_t index = 0;
    HitArray<1> hits;
    if (view_->lookup({&pointer, 1}, {&index, 1}, hits) == 0) return {};
    return connection_at(index);
  }

  // Ends a connection if its life is still as it was seen. The caller has the lock of its key.
  [[nodiscard]] bool end_as_seen(uint32_t index, RecordLife seen) {
    if (!replace_life(index, seen, seen.ended())) return false;
    const Key& key = record(index).key;
    view_->erase(key);
    held_->callback(key, index);
    held_->pool.retire(index);
    return true;
  }

  std::unique_ptr<SmallValues<Key>> view_;
  std::shared_ptr<Held> held_;
  unsigned thread_;
  ConnectionCounts counts_;
};

}  // namespace roost::lab
