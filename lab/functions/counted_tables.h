// The tables that HALO's simulator knows as software: their lookups are counted by lookup_costs.cc
// and timed by the host check (lab/halo), so that both are of the same code.
#pragma once

#include <rte_hash.h>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "roost/base/hit_words.h"
#include "roost/table/flow_table.h"

namespace roost::lab {

inline constexpr size_t kCallLanes = 32;  // keys that lookup() is given at most

// rte_hash, by one key a call or by all that lookup() is given. Needs a started Eal.
template <class Key, size_t kLanesOfCall>
class CountedRteHash {
 public:
  // `flags`: of rte_hash_parameters::extra_flag.
  static std::optional<CountedRteHash> create(uint64_t slots, uint8_t flags = 0) {
    auto made = make_rte_hash(slots, sizeof(Key), flags);
    if (!made) return std::nullopt;
    return CountedRteHash(std::move(made).value());
  }
  bool insert(const Key& key, uint64_t value) {
    return rte_hash_add_key_data(made_.table.get(), &key, reinterpret_cast<void*>(value)) == 0;
  }
  // How many of the keys are there.
  [[gnu::noinline]] uint64_t lookup(std::span<const Key> keys) {
    std::array<void*, kCallLanes> data;
    if constexpr (kLanesOfCall == 1) {
      uint64_t found = 0;
      for (const Key& key : keys)
        found += rte_hash_lookup_data(made_.table.get(), &key, &data[0]) >= 0 ? 1U : 0U;
      return found;
    } else {
      std::array<const void*, kCallLanes> pointers;
      for (size_t i = 0; i < keys.size(); ++i) pointers[i] = &keys[i];
      uint64_t found = 0;
      rte_hash_lookup_bulk_data(made_.table.get(), pointers.data(),
                                static_cast<uint32_t>(keys.size()), &found, data.data());
      return static_cast<uint64_t>(std::popcount(found));
    }
  }

 private:
  explicit CountedRteHash(MadeRteHash made) : made_(std::move(made)) {}

  MadeRteHash made_;
};

template <LayoutChoice kChoice>
struct CountedPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = kChoice;
};

// Ours, by all keys that lookup() is given.
template <class Key, class Value, LayoutChoice kChoice>
class CountedFlowTable {
 public:
  static std::optional<CountedFlowTable> create(uint64_t slots) {
    auto made = Table::create({.capacity = slots, .hash_seed = 1});
    if (!made) return std::nullopt;
    return CountedFlowTable(std::move(made).value());
  }
  bool insert(const Key& key, uint64_t) {
    return table_.insert(key, Value{}) == InsertOutcome::kInserted;
  }
  [[gnu::noinline]] uint64_t lookup(std::span<const Key> keys) {
    std::array<Value, kCallLanes> values;
    HitArray<kCallLanes> hits;
    return table_.lookup(keys, values, hits);
  }

 private:
  using Table = FlowTable<Key, Value, CountedPolicies<kChoice>>;
  explicit CountedFlowTable(Table table) : table_(std::move(table)) {}

  Table table_;
};

}  // namespace roost::lab
