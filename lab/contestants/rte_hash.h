// DPDK's cuckoo table, as a dataplane uses it: bulk lookups of up to 32 keys a call, CRC hash, 8
// bytes of data.
//
// 8 bytes of data held beside the key is its fast form and so the harder target; 16-byte values
// would need a record outside the table. No lock, no extendable buckets: the table is one thread's.
//
// Keys of 48 bits have two forms here: `rte_hash` gets them in 16 bytes, which it compares by
// vector instructions; `rte_hash_mac` in 8, so that four entries share a line instead of two.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// What a value is as data, and what is summed up of that.
[[nodiscard]] constexpr uint64_t data_of(const Value& value) { return value.words[0]; }
[[nodiscard]] constexpr uint64_t data_of(const traffic::Value16& value) { return value.word; }

// Needs a started Eal, on the same kind of pages.
template <class KeyT, class ValueT>
class RteHashOf {
 public:
  static constexpr bool kHasWordKeys = sizeof(KeyT) == sizeof(uint64_t);
  static constexpr std::string_view kName = kHasWordKeys ? "rte_hash_mac" : "rte_hash";
  using KeyType = KeyT;
  using ValueType = ValueT;
  using Answer = void*;  // the value's first word

  // Enough of DPDK's heap for a table of this capacity.
  static uint64_t heap_bytes(uint64_t slots) { return slots * 64 + (uint64_t{64} << 20); }

  static Result<RteHashOf> create(uint64_t slots, PageKind pages);

  // The library takes 64 keys a call.
  static constexpr size_t kLanesPerCallMax = 64;
  // It asks for both of a key's buckets, always, and compares the entry of a hit.
  static constexpr double kLinesOnHit = 3;
  static constexpr double kLinesOnMiss = 2;
  static std::string_view line_hint() { return "T0"; }  // always

  bool insert(const KeyT& key, const ValueT& value);
  bool erase(const KeyT& key);
  void clear();
  void lookup(std::span<const KeyT> keys, std::span<Answer> answers, HitWords hits);
  static bool is_answer(Answer answer, const ValueT& value) {
    return reinterpret_cast<uintptr_t>(answer) == data_of(value);
  }
  static uint64_t answer_word(Answer answer) {
    const auto data = reinterpret_cast<uintptr_t>(answer);
    if constexpr (kHasWordKeys) return word_of(ValueT{static_cast<uint16_t>(data)});
    return data;
  }
  [[nodiscard]] const void* entry_address(const KeyT& key) const;
  [[nodiscard]] uint64_t memory_bytes() const { return memory_bytes_; }
  // A bucket's line, then an entry's.
  [[nodiscard]] FewestLines fewest_lines() const;

 private:
  explicit RteHashOf(MadeRteHash made) : table_(std::move(made.table)), memory_bytes_(made.bytes) {}

  RteHashHandle table_;
  uint64_t memory_bytes_;
};

using RteHash = RteHashOf<Key, Value>;
using RteHashMac = RteHashOf<traffic::Key48, traffic::Value16>;
extern template class RteHashOf<Key, Value>;
extern template class RteHashOf<traffic::Key48, traffic::Value16>;

}  // namespace roost::lab
