// A table as it stands, made to prefetch lines to one place: what its own choice is held against,
// in the same memory. The table's choice is put back after each call, as if there had been none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/table_oracle.h"
#include "lab/harness/contestant.h"
#include "roost/base/hit_words.h"
#include "roost/isa/prefetch.h"
#include "roost/table/hint_choice.h"

namespace roost::lab {

// `Table` is a contestant of ours. It is made like an oracle, and takes the same calls.
template <class Table, PrefetchHint kHint>
class ForcedHint {
 public:
  using KeyType = KeyOf<Table>;
  using ValueType = ValueOf<Table>;
  using Answer = ValueType;
  static constexpr std::string_view kName = std::array<std::string_view, kPrefetchHints.size()>{
      "forced_t0", "forced_t1", "forced_nta"}[static_cast<size_t>(kHint)];

  ForcedHint(Table& table, TableMemory /*memory*/, std::span<const KeyType> /*stream*/)
      : table_(&table) {}

  void lookup(std::span<const KeyType> keys, std::span<ValueType> answers, HitWords hits) {
    forced([&] { table_->lookup(keys, answers, hits); });
  }

  // In split phase.
  class Ahead {
   public:
    static constexpr std::string_view kName = ForcedHint::kName;
    using KeyType = ForcedHint::KeyType;
    using ValueType = ForcedHint::ValueType;
    using Answer = ForcedHint::Answer;

    explicit Ahead(const ForcedHint& forced) : forced_(forced), ahead_(*forced.table_) {}

    void lookup(std::span<const KeyType> keys, std::span<const KeyType> next_keys,
                std::span<ValueType> answers, HitWords hits) {
      forced_.forced([&] { ahead_.lookup(keys, next_keys, answers, hits); });
    }
    static bool is_answer(const Answer& answer, const ValueType& value) { return answer == value; }
    static uint64_t answer_word(const Answer& answer) { return word_of(answer); }

   private:
    ForcedHint forced_;
    typename Table::Ahead ahead_;
  };

  static bool is_answer(const Answer& answer, const ValueType& value) { return answer == value; }
  static uint64_t answer_word(const Answer& answer) { return word_of(answer); }

 private:
  template <class LookUp>
  void forced(LookUp&& look_up) {
    const HintChoice kept = std::exchange(table_->hint_choice(), HintChoice(kHint, kHint));
    look_up();
    table_->hint_choice() = kept;
  }

  Table* table_;
};

}  // namespace roost::lab
