// Our flow table without expiry, as its peers have none: with its default probing, which is what
// the library has, and with those that the paper compares it with.
//
// With the default, a hit touches the bucket's line and the entry's, a miss the bucket's alone,
// nearly always. Lookups overlap inside a call from 64 keys on, and across calls where the caller
// names the next ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"

namespace roost::lab {

template <class ProbingPolicy>
struct ProbedBy : DefaultPolicies {
  using Probing = ProbingPolicy;
};

template <class ProbingPolicy>
inline constexpr std::string_view kNameOfProbing = "";
template <>
inline constexpr std::string_view kNameOfProbing<FilteredProbing> = "roost_flow_table";
template <>
inline constexpr std::string_view kNameOfProbing<OptimisticProbing> = "roost_optimistic";
template <>
inline constexpr std::string_view kNameOfProbing<PessimisticProbing<>> = "roost_pessimistic";
template <>
inline constexpr std::string_view kNameOfProbing<HortonProbing> = "roost_horton";

template <class ProbingPolicy>
class RoostTable {
 public:
  static constexpr std::string_view kName = kNameOfProbing<ProbingPolicy>;
  using Answer = Value;
  using Table = FlowTable<Key, Value, ProbedBy<ProbingPolicy>>;

  static Result<RoostTable> create(uint64_t slots, PageKind pages) {
    Result<Table> table = Table::create({.capacity = slots, .hash_seed = 1, .pages = pages});
    if (!table) return table.error();
    return RoostTable(std::move(table).value());
  }

  bool insert(const Key& key, const Value& value) {
    return table_.insert(key, value) != InsertOutcome::kFull;
  }
  void lookup(std::span<const Key> keys, std::span<Value> answers, HitWords hits) {
    table_.lookup(keys, answers, hits);
  }
  static bool is_answer(const Value& answer, const Value& value) { return answer == value; }
  static uint64_t answer_word(const Value& answer) { return answer.words[0]; }
  [[nodiscard]] const void* entry_address(const Key& key) { return table_.find(key); }
  [[nodiscard]] uint64_t memory_bytes() const { return table_.mapped_bytes(); }
  // A bucket's line, then an entry's.
  [[nodiscard]] FewestLines fewest_lines() const {
    return {.first_bytes = table_.capacity() * sizeof(TagLine) / kSlotsPerBucket,
            .second_bytes = table_.capacity() * (sizeof(Key) + sizeof(Value))};
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  explicit RoostTable(Table table) : table_(std::move(table)) {}

  Table table_;
};

using RoostFlowTable = RoostTable<FilteredProbing>;

// The same table in split phase: each call names the next one's keys, so that its lines are on
// their way.
class RoostFlowTableAhead {
 public:
  static constexpr std::string_view kName = RoostFlowTable::kName;
  using Answer = Value;

  explicit RoostFlowTableAhead(const RoostFlowTable& table) : table_(&table.table()) {}

  // `next_keys` is empty in the last call of a stream.
  void lookup(std::span<const Key> keys, std::span<const Key> next_keys, std::span<Value> answers,
              HitWords hits) {
    if (!flight_) flight_ = table_->start(keys);
    if (next_keys.empty()) {
      table_->lookup(*flight_, answers, hits);
      flight_.reset();
    } else {
      table_->lookup_and_start(*flight_, answers, hits, next_keys);
    }
  }
  static bool is_answer(const Value& answer, const Value& value) {
    return RoostFlowTable::is_answer(answer, value);
  }
  static uint64_t answer_word(const Value& answer) { return RoostFlowTable::answer_word(answer); }

 private:
  using Flight =
      decltype(std::declval<const RoostFlowTable::Table&>().start(std::span<const Key>()));

  const RoostFlowTable::Table* table_;
  std::optional<Flight> flight_;
};

}  // namespace roost::lab
