// What a table must offer to be measured: the contract every file of lab/contestants satisfies.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// The most keys a call is given.
inline constexpr size_t kLanesMax = 256;

// Batch lookup: up to kLanesMax keys, one hit bit a lane, and an answer on each lane that hits.
template <class Table>
concept PlainLookup =
    requires(Table table, std::span<const Key> keys, std::span<typename Table::Answer> answers,
             HitWords hits) { table.lookup(keys, answers, hits); };

// The same, told which keys come next; none in the last call of a stream.
template <class Table>
concept AheadLookup =
    requires(Table table, std::span<const Key> keys, std::span<const Key> next_keys,
             std::span<typename Table::Answer> answers,
             HitWords hits) { table.lookup(keys, next_keys, answers, hits); };

// What the timed loop needs.
template <class Table>
concept Answering =
    (PlainLookup<Table> || AheadLookup<Table>)&&requires(const Table::Answer& answer) {
      // The name in reports and records.
      { Table::kName } -> std::convertible_to<std::string_view>;
      // One word of an answer, to consume.
      { Table::answer_word(answer) } -> std::same_as<uint64_t>;
    };

// What the check before it needs.
template <class Table>
concept Checkable = Answering<Table> && requires(const Table::Answer& answer, const Value& value) {
  // Whether an answer is what the table gives back for this value.
  { Table::is_answer(answer, value) } -> std::same_as<bool>;
};

// What a table needs to be filled and reported.
template <class Table>
concept Contestant = Checkable<Table> && requires(Table table, const Key& key, const Value& value,
                                                  uint64_t slots, PageKind pages) {
  // A table of this capacity on these pages and no others.
  { Table::create(slots, pages) } -> std::same_as<Result<Table>>;
  // False when the table has no room.
  { table.insert(key, value) } -> std::same_as<bool>;
  // An address inside the memory that holds the entry of a key that is present: its pages are read
  // back.
  { table.entry_address(key) } -> std::convertible_to<const void*>;
  // Bytes the table has taken, all of them.
  { table.memory_bytes() } -> std::same_as<uint64_t>;
};

}  // namespace roost::lab
