// What a user may change of a flow table, each with an inert default.
//
//   struct MyPolicies : roost::DefaultPolicies {
//     using Expiry = roost::SlotTimers;
//     using EvictionCallback = MyCallback;
//   };
//   using Flows = roost::FlowTable<FlowKey, FlowState, MyPolicies>;
//   Flows flows = Flows::create({.capacity = 4096}).value();
#pragma once

#include <cstdint>

#include "roost/expiry/slot_timers.h"
#include "roost/hash/keyed_hash.h"
#include "roost/table/access.h"
#include "roost/table/probe.h"
#include "roost/table/probing.h"

namespace roost {

// Eviction callback: does nothing for expired entries. One of one's own is a copyable object that
// is called with key and value once for each of them, while the table is in the middle of an
// operation: it must not call that table.
struct NoEvictionCallback {
  template <class Key, class Value>
  void operator()(const Key&, const Value&) const {}
};

// Where a table keeps keys and values (layout.h).
enum class LayoutChoice : uint8_t {
  kAutomatic,  // packed where that fits; else inline where sizes allow it and it costs no memory
               // (layout_choice.h); else split
  kSplit,      // beside the buckets' lines: a hit costs two cache lines
  kInline,     // in the buckets' lines: a hit costs one; does not compile where they do not fit
  kPacked,     // in words of the buckets' lines, keys by their hashes; a hit costs one, likewise
};

struct DefaultPolicies {
  using Hash = KeyedHash;
  using Expiry = NoExpiry;
  using Probing = FilteredProbing;
  using EvictionCallback = NoEvictionCallback;
  using Probe = NoProbe;
  using Access = Exclusive;
  static constexpr LayoutChoice kLayout = LayoutChoice::kAutomatic;

  // The bits of a packed table's value that readers may set (SharedTable): a hint, of which some
  // may be lost when entries move.
  static constexpr uint16_t kHintBits = 0;
};

// Key and value types for a table without values.
struct NoValue {};

}  // namespace roost
