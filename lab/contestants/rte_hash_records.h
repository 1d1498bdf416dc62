// rte_hash with the value outside of it: what its users do when a value is larger than a pointer.
//
// The table gives a key's position, which is the index of a record of 32 bytes in an array beside
// it; the first 16 bytes are the value. A call asks for the records of all its hits before it reads
// the first of them.
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
class RteHashRecords {
 public:
  static constexpr std::string_view kName = "rte_hash_records";
  using Answer = Value;
  static constexpr size_t kLanesPerCallMax = 32;
  // Both buckets of a key, always; for a hit the key that is compared, and the record.
  static constexpr double kLinesOnHit = 4;
  static constexpr double kLinesOnMiss = 2;
  static std::string_view line_hint() { return "T0"; }  // always

  static Result<RteHashRecords> create(uint64_t slots, PageKind pages);

  bool insert(const Key& key, const Value& value);
  bool erase(const Key& key);
  void clear();
  void lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits);
  static bool is_answer(const Value& answer, const Value& value) { return answer == value; }
  static uint64_t answer_word(const Value& answer) { return word_of(answer); }
  [[nodiscard]] const void* entry_address(const Key& key) const;
  [[nodiscard]] uint64_t memory_bytes() const { return table_bytes_ + records_.bytes(); }
  // A bucket's line, then a key's; the record's is one more.
  [[nodiscard]] FewestLines fewest_lines() const;

 private:
  struct Record {
    Value value;
    uint64_t unused[2];
  };
  static_assert(sizeof(Record) == 32);
  RteHashRecords(RteHashHandle table, uint64_t table_bytes, Arena records);

  [[nodiscard]] Record* records() const { return reinterpret_cast<Record*>(records_.data()); }

  RteHashHandle table_;
  uint64_t table_bytes_;
  Arena records_;
};

}  // namespace roost::lab
