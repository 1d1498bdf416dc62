// Which tables the connections stand in. The datapath is a template over what makes them, so that
// others can be compared with ours on the same packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "roost/base/result.h"
#include "roost/table/flow_table.h"

namespace roost::conntrack {

// Memory that is lent to the tables of a family's connections, or, if it was lent to such tables
// before, in which they are found again.
struct TableMemory {
  std::span<std::byte> connections{};
  std::span<std::byte> replies{};
  std::span<std::byte> bindings{};
  bool is_adopted = false;

  [[nodiscard]] bool is_lent() const { return !connections.empty(); }
};

// How much that must be.
struct TableBytes {
  uint64_t connections = 0;
  uint64_t replies = 0;
  uint64_t bindings = 0;
};

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
    return is_there(config) ? Plain<Key, Value>::adopt(config) : Plain<Key, Value>::create(config);
  }
  template <class Key, class Value, class Callback>
  [[nodiscard]] Result<Timed<Key, Value, Callback>> make_timed(const TableConfig& config,
                                                               Callback callback) const {
    using Table = Timed<Key, Value, Callback>;
    return is_there(config) ? Table::adopt(config, std::move(callback))
                            : Table::create(config, std::move(callback));
  }

 private:
  // Of a table that is in its memory already, only that is configured.
  static bool is_there(const TableConfig& config) {
    return config.capacity == 0 && !config.memory.empty();
  }
};

}  // namespace roost::conntrack
