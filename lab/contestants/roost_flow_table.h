// Our flow table: with its default probing, which is what the library has, and with those that the
// paper compares it with; without timers, as its peers have none, and with.
//
// With the default, a hit touches the bucket's line and the entry's, a miss the bucket's alone,
// nearly always. Lookups overlap inside a call from 64 keys on, and across calls where the caller
// names the next ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lab/contestants/forced_hint.h"
#include "lab/contestants/table_oracle.h"
#include "lab/harness/contestant.h"
#include "lab/harness/workload.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/isa/isa.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"
#include "roost/table/flow_table.h"
#include "roost/table/horton_probing.h"

namespace roost::lab {

template <class ProbingPolicy, class ExpiryPolicy>
inline constexpr std::string_view kNameOfTable = "";
template <>
inline constexpr std::string_view kNameOfTable<FilteredProbing, NoExpiry> = "roost_flow_table";
template <>
inline constexpr std::string_view kNameOfTable<FilteredProbing, SlotTimers> =
    "roost_flow_table_timers";
template <>
inline constexpr std::string_view kNameOfTable<OptimisticProbing, NoExpiry> = "roost_optimistic";
template <>
inline constexpr std::string_view kNameOfTable<PessimisticProbing<>, NoExpiry> =
    "roost_pessimistic";
template <>
inline constexpr std::string_view kNameOfTable<PessimisticProbing<1>, NoExpiry> = "roost_slots_1";
template <>
inline constexpr std::string_view kNameOfTable<PessimisticProbing<2>, NoExpiry> = "roost_slots_2";
template <>
inline constexpr std::string_view kNameOfTable<PessimisticProbing<4>, NoExpiry> = "roost_slots_4";
template <>
inline constexpr std::string_view kNameOfTable<HortonProbing, NoExpiry> = "roost_horton";

template <class ExpiryPolicy, unsigned kSlots>
inline constexpr std::string_view kNameOfInline = "";
template <>
inline constexpr std::string_view kNameOfInline<NoExpiry, 2> = "roost_inline_2";
template <>
inline constexpr std::string_view kNameOfInline<NoExpiry, 3> = "roost_inline_3";
template <>
inline constexpr std::string_view kNameOfInline<SlotTimers, 2> = "roost_inline_2_timers";
template <>
inline constexpr std::string_view kNameOfInline<SlotTimers, 3> = "roost_inline_3_timers";
template <>
inline constexpr std::string_view kNameOfInline<NoExpiry, 8> = "roost_packed";

template <class ProbingPolicy, class ExpiryPolicy = NoExpiry, class ProbePolicy = NoProbe,
          class KeyT = Key, class ValueT = Value>
class RoostTable {
  struct Policies : DefaultPolicies {
    using Probing = ProbingPolicy;
    using Expiry = ExpiryPolicy;
    using Probe = ProbePolicy;
  };

 public:
  using Table = FlowTable<KeyT, ValueT, Policies>;
  // Slots of a line that keys and values are inside of; zero where they stand beside it.
  static constexpr unsigned kInlineSlots = Table::kIsInline ? Table::kSlots : 0;
  static constexpr std::string_view kName = kInlineSlots == 0
                                                ? kNameOfTable<ProbingPolicy, ExpiryPolicy>
                                                : kNameOfInline<ExpiryPolicy, kInlineSlots>;
  using KeyType = KeyT;
  using ValueType = ValueT;
  using Answer = ValueT;
  using Counted = RoostTable<ProbingPolicy, ExpiryPolicy, LookupCounts, KeyT, ValueT>;

  // Of the table that the library has, without what costs time.
  static constexpr bool kIsDefault = std::is_same_v<ProbingPolicy, FilteredProbing> &&
                                     std::is_same_v<ExpiryPolicy, NoExpiry> &&
                                     !ProbePolicy::kEnabled;
  template <PrefetchHint kHint>
  using Oracle = TableOracle<RoostTable, 2, kHint>;
  template <PrefetchHint kHint>
  using Forced = ForcedHint<RoostTable, kHint>;
  using Oracles = decltype(std::tuple_cat(
      std::declval<
          std::conditional_t<kIsDefault && kInlineSlots == 0,
                             std::tuple<Oracle<PrefetchHint::kT0>, Oracle<PrefetchHint::kT1>,
                                        Oracle<PrefetchHint::kNta>>,
                             std::tuple<>>>(),
      std::declval<
          std::conditional_t<kIsDefault,
                             std::tuple<Forced<PrefetchHint::kT0>, Forced<PrefetchHint::kT1>,
                                        Forced<PrefetchHint::kNta>>,
                             std::tuple<>>>()));

  // In split phase: each call names the next one's keys, so that its lines are on their way.
  class Ahead {
   public:
    static constexpr std::string_view kName = RoostTable::kName;
    using KeyType = KeyT;
    using ValueType = ValueT;
    using Answer = ValueT;

    explicit Ahead(const RoostTable& table) : table_(&table.table_) {}

    // `next_keys` is empty in the last call of a stream.
    void lookup(std::span<const KeyT> keys, std::span<const KeyT> next_keys,
                std::span<ValueT> answers, HitWords hits) {
      if (!flight_) flight_ = table_->start(keys);
      if (next_keys.empty()) {
        table_->lookup(*flight_, answers, hits);
        flight_.reset();
      } else {
        table_->lookup_and_start(*flight_, answers, hits, next_keys);
      }
    }
    static bool is_answer(const ValueT& answer, const ValueT& value) { return answer == value; }
    static uint64_t answer_word(const ValueT& answer) { return word_of(answer); }

   private:
    using Flight = decltype(std::declval<const Table&>().start(std::span<const KeyT>()));

    const Table* table_;
    std::optional<Flight> flight_;
  };

  // The table is lent its memory, so that an oracle can read it. A kernel that is not the best one
  // here can be asked for.
  static Result<RoostTable> create(uint64_t slots, PageKind pages, std::optional<Isa> isa = {}) {
    TableConfig config{.capacity = slots, .hash_seed = 1, .isa = isa};
    const Result<uint64_t> bytes = Table::bytes_to_lend(config);
    if (!bytes) return bytes.error();
    Result<Arena> memory = Arena::map(bytes.value(), {.pages = pages});
    if (!memory) return memory.error();
    config.memory = {memory.value().data(), memory.value().bytes()};
    Result<Table> table = Table::create(config);
    if (!table) return table.error();
    return RoostTable(std::move(memory).value(), std::move(table).value());
  }

  bool insert(const KeyT& key, const ValueT& value) {
    return table_.insert(key, value) != InsertOutcome::kFull;
  }
  size_t insert(std::span<const KeyT> keys, std::span<const ValueT> values) {
    std::array<InsertOutcome, kLanesMax> outcomes;
    return table_.insert(keys, values, outcomes);
  }
  bool erase(const KeyT& key) { return table_.erase(key); }
  void ask_for(std::span<const KeyT> keys) const {
    for (const KeyT& key : keys) static_cast<void>(table_.prefetch(key));
  }
  uint64_t replace(std::span<const KeyT> leaving, std::span<const KeyT> arriving,
                   std::span<const ValueT> values) {
    HitArray<kLanesMax> erased;
    return table_.erase(leaving, erased) + insert(arriving, values);
  }
  void clear() { table_.clear(); }
  void lookup(std::span<const KeyT> keys, std::span<ValueT> answers, HitWords hits) {
    table_.lookup(keys, answers, hits);
  }
  static bool is_answer(const ValueT& answer, const ValueT& value) { return answer == value; }
  static uint64_t answer_word(const ValueT& answer) { return word_of(answer); }
  [[nodiscard]] const void* entry_address(const KeyT& key) { return table_.find(key); }
  [[nodiscard]] uint64_t memory_bytes() const { return memory_.bytes() + sizeof(*this); }
  [[nodiscard]] TableMemory memory() const {
    return {{memory_.data(), memory_.bytes()}, table_.bucket_count()};
  }
  // A bucket's line, then an entry's unless that is inside.
  [[nodiscard]] FewestLines fewest_lines() const {
    constexpr uint64_t kEntryBytes = kInlineSlots == 0 ? sizeof(KeyT) + sizeof(ValueT) : 0;
    return {.first_bytes = table_.bucket_count() * sizeof(TagLine),
            .second_bytes = table_.capacity() * kEntryBytes};
  }

  [[nodiscard]] std::string_view line_hint() const { return hint_name(table_.stats().line_hint); }

  [[nodiscard]] HintChoice& hint_choice() { return table_.hint_choice(); }

  [[nodiscard]] Isa isa() const { return table_.isa(); }
  [[nodiscard]] TableStats stats() const { return table_.stats(); }
  [[nodiscard]] std::optional<std::string_view> audit() const {
    const auto violation = table_.audit();
    return violation ? std::optional(violation->what) : std::nullopt;
  }
  [[nodiscard]] StructuralCounts counts() const
    requires ProbePolicy::kEnabled
  {
    const TableStats stats = table_.stats();
    const LookupCounts& met = stats.lookups;
    const uint64_t entries_read = kInlineSlots == 0 ? met.hits + met.tag_false_positives : 0;
    return {.lookups = met.lookups,
            .lines = met.lookups + met.secondary_visits + entries_read,
            .secondary_visits = met.secondary_visits,
            .filter_false_positives = met.filter_false_positives,
            .inserts = stats.created,
            .kicks = stats.kicks};
  }

 private:
  RoostTable(Arena memory, Table table) : memory_(std::move(memory)), table_(std::move(table)) {}

  Arena memory_;
  Table table_;
};

using RoostFlowTable = RoostTable<FilteredProbing>;

// 104-bit keys inside the bucket's line: two slots a line with 16-byte values, three with 4 bytes.
template <class ExpiryPolicy = NoExpiry>
using RoostInline2 = RoostTable<FilteredProbing, ExpiryPolicy, NoProbe, traffic::Key104, Value>;
template <class ExpiryPolicy = NoExpiry>
using RoostInline3 =
    RoostTable<FilteredProbing, ExpiryPolicy, NoProbe, traffic::Key104, traffic::Value32>;

// 48-bit keys and 16-bit values, a word an entry.
using RoostPacked =
    RoostTable<FilteredProbing, NoExpiry, NoProbe, traffic::Key48, traffic::Value16>;

}  // namespace roost::lab
