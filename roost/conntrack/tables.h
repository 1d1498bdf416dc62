// Which tables the connections stand in. The datapath is a template over what makes them, so that
// others can be compared with ours on the same packets.
#pragma once

#include <utility>

#include "roost/base/result.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// Ours. Others need the functions of FlowTable that ConnectionTable calls, and may keep here what
// is needed to make them.
struct OwnTables {
  // Entries stay until they are erased.
  template <class Key, class Value>
  using Plain = FlowTable<Key, Value>;

  template <class Callback>
  struct TimedPolicies : DefaultPolicies {
    using Expiry = SlotTimers;
    using EvictionCallback = Callback;
  };
  // Entries expire, and the eviction callback is called with each one that does.
  template <class Key, class Value, class Callback>
  using Timed = FlowTable<Key, Value, TimedPolicies<Callback>>;

  template <class Key, class Value>
  [[nodiscard]] Result<Plain<Key, Value>> make_plain(const TableConfig& config) const {
    return Plain<Key, Value>::create(config);
  }
  template <class Key, class Value, class Callback>
  [[nodiscard]] Result<Timed<Key, Value, Callback>> make_timed(const TableConfig& config,
                                                               Callback callback) const {
    return Timed<Key, Value, Callback>::create(config, std::move(callback));
  }
};

}  // namespace roost::conntrack
