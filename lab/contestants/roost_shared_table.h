// Our tables as threads share them: a reader a thread, and one writer at a time.
//
// Packed ones have keys of 48 bits with values of 16, a word an entry: a hit touches the line of
// one bucket or of two, a miss two. Split and inline ones are those of roost_flow_table.h. Each
// object is a reader of its own; all copies that reader() makes have one table. Every insertion and
// erasure is a write of its own, a batch of them too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/concurrent/bulk_load.h"
#include "roost/concurrent/shared_table.h"
#include "roost/memory/arena.h"

namespace roost::lab {

template <class KeyT, class ValueT, class ProbePolicy = NoProbe>
class RoostSharedTable {
  struct Policies : DefaultPolicies {
    using Probe = ProbePolicy;
  };

 public:
  using KeyType = KeyT;
  using ValueType = ValueT;
  using Answer = ValueType;
  using Counted = RoostSharedTable<KeyT, ValueT, LookupCounts>;

 private:
  using Shared = SharedTable<KeyType, ValueType, Policies>;
  static constexpr unsigned kInlineSlots = Shared::Table::kIsInline ? Shared::Table::kSlots : 0;
  using Reader = typename Shared::Reader;
  using Keys = std::span<const KeyType>;

  // The table lives in memory that it was lent, which so is on the pages asked for.
  struct Held {
    Arena memory;
    Shared table;
  };

 public:
  static constexpr std::string_view kName = kInlineSlots == 8   ? "roost_packed_shared"
                                            : kInlineSlots == 2 ? "roost_inline_2_shared"
                                                                : "roost_flow_table_shared";

  // In split phase: each call names the next one's keys, so that its lines are on their way.
  class Ahead {
   public:
    static constexpr std::string_view kName = RoostSharedTable::kName;
    using KeyType = RoostSharedTable::KeyType;
    using ValueType = RoostSharedTable::ValueType;
    using Answer = ValueType;

    explicit Ahead(const RoostSharedTable& table) : reader_(&table.reader_) {}

    // `next_keys` is empty in the last call of a stream.
    void lookup(Keys keys, Keys next_keys, std::span<ValueType> answers, HitWords hits) {
      if (!flight_) flight_ = reader_->start(keys);
      if (next_keys.empty()) {
        reader_->lookup(*flight_, answers, hits);
        flight_.reset();
      } else {
        reader_->lookup_and_start(*flight_, answers, hits, next_keys);
      }
    }
    static bool is_answer(const Answer& answer, const ValueType& value) { return answer == value; }
    static uint64_t answer_word(const Answer& answer) { return word_of(answer); }

   private:
    using Flight = decltype(std::declval<const Reader&>().start(Keys()));

    const Reader* reader_;
    std::optional<Flight> flight_;
  };

  static Result<RoostSharedTable> create(uint64_t slots, PageKind pages) {
    TableConfig config{.capacity = slots, .hash_seed = 1};
    const Result<uint64_t> bytes = Shared::Table::bytes_to_lend(config);
    if (!bytes) return bytes.error();
    Result<Arena> memory = Arena::map(bytes.value(), {.pages = pages});
    if (!memory) return memory.error();
    config.memory = {memory.value().data(), memory.value().bytes()};
    Result<Shared> table = Shared::create(config);
    if (!table) return table.error();
    return RoostSharedTable(std::make_shared<Held>(std::move(memory).value(),  //
                                                   std::move(table).value()));
  }
  [[nodiscard]] RoostSharedTable reader() const { return RoostSharedTable(held_); }

  bool insert(const KeyType& key, const ValueType& value) {
    return held_->table.write()->insert(key, value) != InsertOutcome::kFull;
  }
  size_t insert(Keys keys, std::span<const ValueType> values) {
    std::array<InsertOutcome, kLanesMax> outcomes;
    return held_->table.write()->insert(keys, values, outcomes);
  }
  template <class Generate>
  uint64_t bulk_load(uint64_t count, unsigned threads, Generate generate) {
    return roost::bulk_load(held_->table, {.count = count, .threads = threads}, generate).value();
  }
  bool erase(const KeyType& key) { return held_->table.write()->erase(key); }
  void clear() { held_->table.write()->clear(); }
  void lookup(Keys keys, std::span<ValueType> answers, HitWords hits) const {
    reader_.lookup(keys, answers, hits);
  }
  static bool is_answer(const Answer& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const Answer& answer) { return word_of(answer); }

  // No pointer to an entry is handed out: the middle of the memory, whose pages are all alike.
  [[nodiscard]] const void* entry_address(const KeyType& /*key*/) const {
    return held_->memory.data() + held_->memory.bytes() / 2;
  }
  [[nodiscard]] uint64_t memory_bytes() const { return held_->memory.bytes() + sizeof(*this); }
  [[nodiscard]] FewestLines fewest_lines() const {
    constexpr uint64_t kEntryBytes = kInlineSlots == 0 ? sizeof(KeyT) + sizeof(ValueT) : 0;
    const auto writer = held_->table.write();
    return {.first_bytes = writer->bucket_count() * 64,
            .second_bytes = writer->capacity() * kEntryBytes};
  }
  [[nodiscard]] std::string_view line_hint() const {
    return hint_name(reader_.core().hint_choice().chosen());
  }
  [[nodiscard]] TableStats stats() const { return held_->table.write()->stats(); }
  [[nodiscard]] std::optional<std::string_view> audit() const {
    const auto violation = held_->table.write()->audit();
    return violation ? std::optional(violation->what) : std::nullopt;
  }
  [[nodiscard]] StructuralCounts counts() const
    requires ProbePolicy::kEnabled
  {
    const LookupCounts& met = reader_.core().probe();
    const TableStats written = stats();
    return {.lookups = met.lookups,
            .lines = met.lookups + met.secondary_visits +
                     (kInlineSlots == 0 ? met.hits + met.tag_false_positives : 0),
            .secondary_visits = met.secondary_visits,
            .filter_false_positives = met.filter_false_positives,
            .inserts = written.created,
            .kicks = written.kicks};
  }

 private:
  explicit RoostSharedTable(std::shared_ptr<Held> held)
      : held_(std::move(held)), reader_(held_->table.reader()) {}

  std::shared_ptr<Held> held_;
  Reader reader_;
};

using RoostPackedShared = RoostSharedTable<traffic::Key48, traffic::Value16>;
using RoostFlowTableShared = RoostSharedTable<Key, Value>;
using RoostInline2Shared = RoostSharedTable<traffic::Key104, Value>;

}  // namespace roost::lab
