// Our table with timers in its slots that say when an entry was seen last, as the paper's lazy
// deletion has it (CT-04, X-03): all entries have one timeout, and every lookup that finds one is a
// use. Ours say when an entry expires: each has a timeout of its own, and the caller decides what a
// use is.
//
// A lookup becomes a store, so an entry is written at most once a tick. What is stored is the last
// tick seen plus the timeout, which is the same for all, so that the bytes and kernels are the ones
// of SlotTimers.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/conntrack/tables.h"
#include "roost/expiry/slot_timers.h"
#include "roost/table/flow_table.h"
#include "roost/table/insert_outcome.h"
#include "roost/table/key_source.h"
#include "roost/table/mutate_batch.h"

namespace roost::lab {

template <class KeyT, class Value, class Callback>
class LastSeenTable : public FlowTable<KeyT, Value, conntrack::OwnTables::TimedPolicies<Callback>> {
  using Table = FlowTable<KeyT, Value, conntrack::OwnTables::TimedPolicies<Callback>>;

 public:
  using Key = KeyT;

  static Result<LastSeenTable> create(const TableConfig& config, TickCount timeout,
                                      Callback callback) {
    Result<Table> table = Table::create(config, std::move(callback));
    if (!table) return table.error();
    return LastSeenTable(std::move(table).value(), timeout);
  }

  size_t find(std::span<const Key> keys, std::span<Value*> out, HitWords hits) {
    const size_t found = Table::find(keys, out, hits);
    see_all(keys.size(), out, hits);
    return found;
  }
  size_t find(const PrefetchedKeys<std::span<const Key>>& asked, std::span<Value*> out,
              HitWords hits) {
    const size_t found = Table::find(asked, out, hits);
    see_all(asked.keys.size(), out, hits);
    return found;
  }
  [[nodiscard]] Value* find(const Key& key) {
    Value* value = Table::find(key);
    if (value != nullptr) see(value);
    return value;
  }

  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value, TickCount /*timeout*/) {
    return Table::insert(key, value, timeout_);
  }
  size_t upsert(const PrefetchedKeys<std::span<const Key>>& asked, std::span<Value> values,
                std::span<InsertOutcome> outcomes, const Timeouts& /*timeouts*/) {
    return Table::upsert(asked, values, outcomes, timeout_);
  }
  // What was found has been seen.
  void refresh(const Value* /*found*/, TickCount /*timeout*/) {}

 private:
  LastSeenTable(Table table, TickCount timeout) : Table(std::move(table)), timeout_(timeout) {}

  void see_all(size_t count, std::span<Value* const> values, HitWords hits) {
    for (size_t lane = 0; lane < count; ++lane)
      if (hits.test(lane)) see(values[lane]);
  }
  void see(const Value* value) {
    if (Table::ticks_left(value) != timeout_) Table::refresh(value, timeout_);
  }

  TickCount timeout_;
};

// For conntrack (roost/conntrack/tables.h); replies' entries have no timers.
struct LastSeenTables : conntrack::OwnTables {
  template <class Key, class Value, class Callback>
  using Timed = LastSeenTable<Key, Value, Callback>;

  TickCount timeout = 1;  // of every connection; at most kTimeoutTicksMax

  template <class Key, class Value, class Callback>
  [[nodiscard]] Result<Timed<Key, Value, Callback>> make_timed(const TableConfig& config,
                                                               Callback callback) const {
    return Timed<Key, Value, Callback>::create(config, timeout, std::move(callback));
  }
};

}  // namespace roost::lab
