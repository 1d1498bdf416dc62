// The tables that the traps are set in: with timers, counts, and a sink that lists whom it buried.
#pragma once

#include <cstdint>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {

struct Buried {
  std::vector<uint64_t>* keys = nullptr;
  void operator()(const Key16& key, uint64_t /*value*/) {
    if (keys != nullptr) keys->push_back(key.number);
  }
};

template <class HashPolicy>
struct TrapPolicies : DefaultPolicies {
  using Hash = HashPolicy;
  using Expiry = SlotTimers;
  using Sink = Buried;
  using Counts = LookupCounts;
};

using TimedTable = FlowTable<Key16, uint64_t, TrapPolicies<KeyedHash>>;
using ChosenTable = FlowTable<Key16, uint64_t, TrapPolicies<FirstWordHash>>;

template <class T = TimedTable>
T make(uint64_t capacity, Buried sink = {}) {
  return T::create({.capacity = capacity, .hash_seed = 11, .pages = PageKind::kSmall}, sink)
      .value();
}

}  // namespace roost
