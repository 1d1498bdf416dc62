// Lookups of the key and value sizes whose machine code hot_loop_test.py reads. Nothing here is
// run.
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/table/flow_table.h"
#include "tests/table/test_types.h"

namespace roost {

struct TimedPolicies : DefaultPolicies {
  using Expiry = SlotTimers;
};

namespace {

template <class Key, size_t kValueBytes, class Policies>
size_t probe(const void* table, std::span<const Key> keys, std::span<Value<kValueBytes>> out,
             HitWords hits) {
  return static_cast<const FlowTable<Key, Value<kValueBytes>, Policies>*>(table)->lookup(keys, out,
                                                                                         hits);
}

// An answer that is an index asks for its record.
template <class Key, class Policies>
size_t probe_records(const void* table, std::span<const Key> keys, std::span<uint32_t> out,
                     HitWords hits) {
  return static_cast<const FlowTable<Key, uint32_t, Policies>*>(table)->lookup_records(
      keys, {table, 64}, out, hits);
}

}  // namespace

// The address of every probe, so that none is dropped.
template <class Key, class Policies>
struct Probes {
  decltype(&probe<Key, 4, Policies>) value4 = probe<Key, 4, Policies>;
  decltype(&probe<Key, 8, Policies>) value8 = probe<Key, 8, Policies>;
  decltype(&probe<Key, 16, Policies>) value16 = probe<Key, 16, Policies>;
  decltype(&probe_records<Key, Policies>) records = probe_records<Key, Policies>;
};
// The inline layout: two slots a bucket, and three.
template <class Policies>
struct InlineProbes {
  decltype(&probe<ByteKey<13>, 16, Policies>) two = probe<ByteKey<13>, 16, Policies>;
  decltype(&probe<ByteKey<13>, 4, Policies>) three = probe<ByteKey<13>, 4, Policies>;
};
extern const Probes<Key16, DefaultPolicies> kProbes16;
extern const Probes<Key40, DefaultPolicies> kProbes40;
extern const Probes<Key16, TimedPolicies> kTimedProbes16;
extern const Probes<Key40, TimedPolicies> kTimedProbes40;
const Probes<Key16, DefaultPolicies> kProbes16;
const Probes<Key40, DefaultPolicies> kProbes40;
const Probes<Key16, TimedPolicies> kTimedProbes16;
const Probes<Key40, TimedPolicies> kTimedProbes40;
extern const InlineProbes<DefaultPolicies> kInlineProbes;
extern const InlineProbes<TimedPolicies> kTimedInlineProbes;
const InlineProbes<DefaultPolicies> kInlineProbes;
const InlineProbes<TimedPolicies> kTimedInlineProbes;

}  // namespace roost
