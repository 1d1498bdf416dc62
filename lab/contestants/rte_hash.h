// DPDK's cuckoo table, as a dataplane uses it: bulk lookups of up to 32 keys a call, CRC hash, 8
// bytes of data.
//
// 8 bytes of data held beside the key is its fast form and so the harder target; 16-byte values
// would need a record outside the table. No lock, no extendable buckets: the table is one thread's.
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

// Needs a started Eal, on the same kind of pages.
class RteHash {
 public:
  static constexpr std::string_view kName = "rte_hash";
  using Answer = void*;  // the value's first word

  // Enough of DPDK's heap for a table of this capacity.
  static uint64_t heap_bytes(uint64_t slots) { return slots * 64 + (uint64_t{64} << 20); }

  static Result<RteHash> create(uint64_t slots, PageKind pages);

  // The library takes 64 keys a call.
  static constexpr size_t kLanesPerCallMax = 64;
  // It asks for both of a key's buckets, always, and compares the entry of a hit.
  static constexpr double kLinesOnHit = 3;
  static constexpr double kLinesOnMiss = 2;
  static std::string_view line_hint() { return "T0"; }  // always

  bool insert(const Key& key, const Value& value);
  bool erase(const Key& key);
  void clear();
  void lookup(std::span<const Key> keys, std::span<Answer> answers, HitWords hits);
  static bool is_answer(Answer answer, const Value& value) {
    return answer_word(answer) == value.words[0];
  }
  static uint64_t answer_word(Answer answer) { return reinterpret_cast<uintptr_t>(answer); }
  [[nodiscard]] const void* entry_address(const Key& key) const;
  [[nodiscard]] uint64_t memory_bytes() const { return memory_bytes_; }
  // A bucket's line, then an entry's.
  [[nodiscard]] FewestLines fewest_lines() const;

 private:
  explicit RteHash(MadeRteHash made) : table_(std::move(made.table)), memory_bytes_(made.bytes) {}

  RteHashHandle table_;
  uint64_t memory_bytes_;
};

}  // namespace roost::lab
