// What a table must offer to be measured: the contract every file of lab/contestants satisfies.
//
// Keys are KeyOf<Table> and values ValueOf<Table> (workload.h): 16 bytes each unless the table says
// otherwise. What is optional stands at the end; an experiment takes those that have what it needs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
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
concept PlainLookup = requires(Table table, std::span<const KeyOf<Table>> keys,
                               std::span<typename Table::Answer> answers,
                               HitWords hits) { table.lookup(keys, answers, hits); };

// The same, told which keys come next; none in the last call of a stream.
template <class Table>
concept AheadLookup =
    requires(Table table, std::span<const KeyOf<Table>> keys,
             std::span<const KeyOf<Table>> next_keys, std::span<typename Table::Answer> answers,
             HitWords hits) { table.lookup(keys, next_keys, answers, hits); };

// What the timed loop needs.
template <class Table>
concept Answering =
    (PlainLookup<Table> || AheadLookup<Table>)&&requires(const typename Table::Answer& answer) {
      // The name in reports and records.
      { Table::kName } -> std::convertible_to<std::string_view>;
      // One word of an answer, to consume.
      { Table::answer_word(answer) } -> std::same_as<uint64_t>;
    };

// What the check before it needs.
template <class Table>
concept Checkable = Answering<Table> &&
                    requires(const typename Table::Answer& answer, const ValueOf<Table>& value) {
                      // Whether an answer is what the table gives back for this value. If so,
                      // answer_word() of it is word_of() the value.
                      { Table::is_answer(answer, value) } -> std::same_as<bool>;
                    };

// The fewest cache lines a lookup can touch, and what they are spread over: every lookup begins at
// a line among `first_bytes`; a hit goes on to one among `second_bytes`, known only when the first
// is there, unless that is zero.
struct FewestLines {
  uint64_t first_bytes;
  uint64_t second_bytes;

  friend bool operator==(const FewestLines&, const FewestLines&) = default;
};

// What a table needs to be filled and reported.
template <class Table>
concept Contestant =
    Checkable<Table> && requires(Table table, const KeyOf<Table>& key, const ValueOf<Table>& value,
                                 uint64_t slots, PageKind pages) {
      // A table of this capacity on these pages and no others.
      { Table::create(slots, pages) } -> std::same_as<Result<Table>>;
      // False when the table has no room.
      { table.insert(key, value) } -> std::same_as<bool>;
      // An address inside the memory that holds the entry of a key that is present: its pages are
      // read back.
      { table.entry_address(key) } -> std::convertible_to<const void*>;
      // Bytes the table has taken, all of them.
      { table.memory_bytes() } -> std::same_as<uint64_t>;
      // What no implementation of this table can go below: the ceiling it is held against.
      { table.fewest_lines() } -> std::same_as<FewestLines>;
    };

// --- Optional. ---

// Is filled by several threads: generate(first, keys, values) writes entries; how many were
// refused.
template <class Table>
concept BulkLoading =
    requires(Table table, uint64_t count, unsigned threads,
             void (*generate)(uint64_t, std::span<KeyOf<Table>>, std::span<ValueOf<Table>>)) {
      { table.bulk_load(count, threads, generate) } -> std::same_as<uint64_t>;
    };

// Answers a batch at once. Without `kOneByOne = true` a table is believed to.
template <class Table>
concept OneByOne = requires { requires Table::kOneByOne; };

// `Ahead` is a view of the table, made from a reference to it, whose lookup is told the next keys.
template <class Table>
concept HasAheadView = requires { typename Table::Ahead; } && Checkable<typename Table::Ahead>;

// Takes a batch of entries, up to kLanesMax; the number of those that found room.
template <class Table>
concept BatchInserting = requires(Table table, std::span<const KeyOf<Table>> keys,
                                  std::span<const ValueOf<Table>> values) {
  { table.insert(keys, values) } -> std::same_as<size_t>;
};

// Can be emptied, keeping its memory: what filling it again needs.
template <class Table>
concept Clearable = requires(Table table) { table.clear(); };

// Forgets a key: what churn needs. False if it was not there.
template <class Table>
concept Erasing = requires(Table table, const KeyOf<Table>& key) {
  { table.erase(key) } -> std::same_as<bool>;
};

// Replaces entries together, up to kLanesMax, and can be told before which: how many left and
// arrived.
template <class Table>
concept Replacing = Erasing<Table> && requires(Table table, std::span<const KeyOf<Table>> keys,
                                               std::span<const ValueOf<Table>> values) {
  table.ask_for(keys);
  { table.replace(keys, keys, values) } -> std::same_as<uint64_t>;
};

// Can be read by several threads at a time, each by an object of its own: reader() is one more of
// the same table.
template <class Table>
concept Sharing = requires(const Table table) {
  { table.reader() } -> std::same_as<Table>;
};

// Checks itself: what is wrong first, or nothing.
template <class Table>
concept Auditing = requires(const Table table) {
  { table.audit() } -> std::same_as<std::optional<std::string_view>>;
};

// What a table met. Counts repeat exactly on every machine.
struct StructuralCounts {
  uint64_t lookups = 0;
  uint64_t lines = 0;  // cache lines of the table touched by them
  uint64_t secondary_visits = 0;
  uint64_t filter_false_positives = 0;
  uint64_t inserts = 0;
  uint64_t kicks = 0;
};

// Counting costs time, so a table that can count has a twin that does: `Counted`, a contestant
// whose counts() says what it met so far.
template <class Table>
concept Counting = requires(const Table table) {
  { table.counts() } -> std::same_as<StructuralCounts>;
};
template <class Table>
concept HasCountedTwin = requires { typename Table::Counted; } && Counting<typename Table::Counted>;

// Knows oracles that read its own lines (contestants/table_oracle.h): `Oracles` is a tuple of their
// types, each made of the table, of table.memory() and of the queries.
template <class Table>
concept HasOracles = requires(const Table table) {
  typename Table::Oracles;
  table.memory();
};

// Says which cache level it prefetches buckets' lines to: T0, T1 or NTA.
template <class Table>
concept SaysLineHint = requires(const Table table) {
  { table.line_hint() } -> std::convertible_to<std::string_view>;
};

// A table of which it is known what every lookup touches says so: lines on a hit and on a miss.
template <class Table>
concept KnownLines = requires {
  { Table::kLinesOnHit } -> std::convertible_to<double>;
  { Table::kLinesOnMiss } -> std::convertible_to<double>;
};

}  // namespace roost::lab
