// Kinds of FlowTable: how they lie, how they hash (by CRC: tests/rtl/lookup_tables.h), and keys and
// values of any type by number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "roost/hash/crc32c_hash.h"
#include "roost/table/flow_table.h"
#include "tests/rtl/lookup_tables.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {

template <LayoutChoice kChoice>
struct KeyedPolicies : DefaultPolicies {
  static constexpr LayoutChoice kLayout = kChoice;
};

// A key of 40 bytes, of which five words differ.
struct Key320 {
  std::array<uint64_t, 5> words;
  friend bool operator==(const Key320&, const Key320&) = default;
};

// The first of a table by CRC have one hash: what two buckets cannot hold of them is in the stash.
inline constexpr uint64_t kAlike = 40;

template <class Key, class Policies>
Key typed_key(uint64_t number) {
  if constexpr (std::is_same_v<typename Policies::Hash, Crc32cHash>) {
    if (number < kAlike) return std::bit_cast<Key>(numbered_key<sizeof(Key)>(number, kAlike));
  }
  if constexpr (std::is_same_v<Key, Key320>) {
    return {{traffic::mix(number + 1), number, ~number, 3, traffic::mix(number + 2)}};
  } else {
    return traffic::narrowed<Key>(key_of(number));
  }
}
// Seven bytes, a word, or more: whatever is wider than the payload is looked up by its address.
template <class Value>
Value typed_value(uint64_t number) {
  Value value{};
  const uint64_t word = number == 0 ? 0 : traffic::mix(number + 9);
  std::memcpy(&value, &word, std::min(sizeof(value), sizeof(word)));
  return value;
}

}  // namespace roost::sim
