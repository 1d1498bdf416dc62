// The tables that the traps are set in: with timers, counts, and an eviction callback that lists
// its calls.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {

struct ExpiredList {
  std::vector<uint64_t>* keys = nullptr;
  void operator()(const Key16& key, uint64_t /*value*/) {
    if (keys != nullptr) keys->push_back(key.number);
  }
};

template <class HashPolicy>
struct TrapPolicies : DefaultPolicies {
  using Hash = HashPolicy;
  using Expiry = SlotTimers;
  using EvictionCallback = ExpiredList;
  using Probe = LookupCounts;
};

using TimedTable = FlowTable<Key16, uint64_t, TrapPolicies<KeyedHash>>;
using ChosenTable = FlowTable<Key16, uint64_t, TrapPolicies<FirstWordHash>>;

template <class T = TimedTable>
T make(uint64_t capacity, ExpiredList expired = {}) {
  return T::create({.capacity = capacity, .hash_seed = 11, .pages = PageKind::kSmall}, expired)
      .value();
}

// A key of a table whose hash is the key's first word (FirstWordHash): the high bits choose the
// primary bucket and the low 16 are the tag.
template <class Table>
Key16 chosen(const Table& table, uint64_t bucket, uint16_t tag, uint64_t rest = 0) {
  // The smallest hash whose product with the bucket count reaches the bucket.
  const uint64_t n = table.bucket_count();
  const uint64_t base = (bucket == 0 ? 0 : ~uint64_t{0} / n * bucket + n * 2) & ~uint64_t{0xFFFF};
  const Key16 key{(base + 0x10000) | tag, rest};
  EXPECT_EQ(BucketMap(n).primary(Hash64{key.number}), BucketIndex{bucket});
  return key;
}

}  // namespace roost
