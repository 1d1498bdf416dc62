// Which tables the connections stand in. The datapath is a template over them, so that others can
// be compared with ours on the same packets.
#pragma once

#include "roost/table/flow_table.h"

namespace roost::conntrack {

// Ours. Others need the functions of FlowTable that ConnectionTable calls.
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
};

}  // namespace roost::conntrack
