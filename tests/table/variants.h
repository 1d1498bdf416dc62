// The papers' variants of probing, with and without timers (CPP-20 to CPP-24, CPP-26): what the
// conformance suite and the structural counts run over.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"
#include "roost/table/probing.h"
#include "tests/table/test_types.h"

namespace roost {

// What all but the packed ones have: values of 8 bytes, and hashes that can be the same for all.
struct WideVariant {
  using Value = uint64_t;
  using Hash = TestHash;
  static constexpr bool kHashesCollide = true;
  static constexpr uint64_t kCapacityMin = 0;  // but for two buckets
};

template <class ProbingT, class ExpiryT>
struct Variant : WideVariant {
  using Probing = ProbingT;
  using Expiry = ExpiryT;
  using Key = Key16;
  using SetKey = Key40;
  static constexpr LayoutChoice kLayout = LayoutChoice::kSplit;
  static constexpr unsigned kSlots = Probing::kSplitSlots;
};

// Keys and values of 8 bytes in the buckets' lines: keys of 13 bytes make two slots, of 9 three.
template <class ProbingT, class ExpiryT, size_t kKeyBytes>
struct InlineVariant : WideVariant {
  using Probing = ProbingT;
  using Expiry = ExpiryT;
  using Key = ByteKey<kKeyBytes>;
  using SetKey = Key;
  static constexpr LayoutChoice kLayout = LayoutChoice::kInline;
  static constexpr unsigned kSlots = inline_slots(kKeyBytes, sizeof(uint64_t));
};

// Keys of that many bytes and values of two in a word each.
template <size_t kKeyBytes>
struct PackedVariant {
  using Probing = OptimisticProbing;
  using Expiry = NoExpiry;
  using Key = ByteKey<kKeyBytes>;
  using SetKey = Key;
  using Value = uint16_t;
  using Hash = TestPermutation;
  static constexpr bool kHashesCollide = false;
  static constexpr uint64_t kCapacityMin = kKeyBytes == 6 ? 32 : 0;
  static constexpr LayoutChoice kLayout = LayoutChoice::kPacked;
  static constexpr unsigned kSlots = kSlotsPerBucket;
};

// A load that tables of 4,096 slots and more reach under every seed without refusing a key; few
// slots a bucket fail early.
constexpr double safe_load(unsigned slots) {
  switch (slots) {
    case 1:
      return 0.4;
    case 2:
      return 0.8;
    case 3:
      return 0.9;
    case 4:
      return 0.93;
    default:
      return 0.95;
  }
}

template <class VariantT, class CallbackT = NoEvictionCallback>
struct VariantPolicies : DefaultPolicies {
  using Hash = typename VariantT::Hash;
  using Expiry = typename VariantT::Expiry;
  using Probing = typename VariantT::Probing;
  using EvictionCallback = CallbackT;
  using Probe = LookupCounts;
  static constexpr LayoutChoice kLayout = VariantT::kLayout;
};

// Lists the numbers of the keys that expired, which are their values.
struct ListCallback {
  std::vector<uint64_t>* numbers = nullptr;
  template <class Key>
  void operator()(const Key& key, uint64_t value) {
    EXPECT_EQ(key, Key::of(value));
    if (numbers != nullptr) numbers->push_back(value);
  }
};

// Creates tables of a variant.
template <class VariantT>
class VariantTest : public testing::Test {
 protected:
  using Probing = typename VariantT::Probing;
  static constexpr bool kExpires = VariantT::Expiry::kEnabled;
  using Value = typename VariantT::Value;
  static constexpr Value kUntouched = 0xDEAD;

  using Table = FlowTable<typename VariantT::Key, Value, VariantPolicies<VariantT, ListCallback>>;

  static Table empty(uint64_t capacity, Isa isa = isa_best(), ListCallback callback = {}) {
    return Table::create({.capacity = capacity, .hash_seed = 1, .isa = isa}, callback).value();
  }

  static Value value_of(uint64_t number) { return static_cast<Value>(number); }

  // A table with the keys 0, 1, 2 ... up to its safe load, and their numbers as values.
  static Table filled(uint64_t capacity, Isa isa = isa_best()) {
    Table table = empty(capacity, isa);
    const uint64_t entries = entries_in(capacity);
    for (uint64_t i = 0; i < entries; ++i)
      EXPECT_EQ(table.insert(VariantT::Key::of(i), value_of(i)), InsertOutcome::kInserted);
    return table;
  }
  static constexpr bool promises() {
    return Probing::kPromises &&
           (VariantT::kLayout != LayoutChoice::kSplit || VariantT::kSlots == kSlotsPerBucket);
  }
  static uint64_t entries_in(uint64_t capacity) {
    return static_cast<uint64_t>(static_cast<double>(capacity) * safe_load(VariantT::kSlots));
  }
};

}  // namespace roost
