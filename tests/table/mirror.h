// Mirrored operations: whatever is done to a table is done to the naive model, and every answer is
// compared.
//
// The choices come from outside, from a generator in the oracle tests or from a fuzzer's bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/flow_model.h"
#include "tests/table/test_types.h"

namespace roost {

// Tells the model of every entry handed over.
template <class Key, class Value>
struct ModelSink {
  FlowModel<Key, Value>* model = nullptr;
  bool* was_owed = nullptr;
  void operator()(const Key& key, const Value& value) {
    if (!model->hand_over(key, value)) *was_owed = false;
  }
};

template <class Key, class Value, class ExpiryT, class ProbingT, class HashT>
struct MirroredPolicies : DefaultPolicies {
  using Hash = HashT;
  using Expiry = ExpiryT;
  using Probing = ProbingT;
  using Sink = ModelSink<Key, Value>;
  using Counts = LookupCounts;
};

// `Choose(n)` returns a number below n. `TableT` is FlowTable, or what has its functions.
template <class KeyT, class ValueT, class Expiry, class Probing, class Hash,
          template <class Key, class Value, class Policies> class TableT = FlowTable>
class Mirror {
 public:
  using Key = KeyT;
  using ValueType = ValueT;
  using Table = TableT<Key, ValueT, MirroredPolicies<Key, ValueT, Expiry, Probing, Hash>>;

  Mirror(const TableConfig& config, uint64_t key_universe)
      : model_(std::make_unique<FlowModel<Key, ValueT>>(Expiry::kEnabled)),
        was_owed_(std::make_unique<bool>(true)),
        table_(Table::create(config, {model_.get(), was_owed_.get()}).value()),
        key_universe_(key_universe) {}

  Mirror(uint64_t capacity, uint64_t key_universe, Isa isa)
      : Mirror({.capacity = capacity, .hash_seed = 7, .pages = PageKind::kSmall, .isa = isa},
               key_universe) {}

  // Does one operation; returns what is wrong, or nothing.
  template <class Choose>
  std::optional<std::string_view> step(Choose&& choose) {
    switch (choose(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        insert(choose, IfExisting::kOverwrite);
        break;
      case 4:
      case 5:
        insert(choose, IfExisting::kKeep);
        break;
      case 6:
      case 7:
        erase(choose);
        break;
      case 8:
      case 9:
        lookup(choose);
        break;
      case 10:
        find(choose);
        break;
      case 11:
        refresh(choose);
        break;
      case 12:
        split_phase(choose);
        break;
      case 13:
        advance(choose);
        break;
      case 14:
        static_cast<void>(table_.maintain(choose(64)));
        break;
      default:
        if (choose(64) == 0) clear();
        break;
    }
    if (!*was_owed_) wrong_ = "an entry was handed over that had not died, or twice";
    return wrong_;
  }

  // Compares everything: contents, accounts and invariants.
  std::optional<std::string_view> compare_all() {
    if (const auto violation = table_.audit()) {
      return violation->what;
    }
    std::map<Key, ValueT> held;
    table_.for_each([&](const Key& key, const ValueT& value) { held.emplace(key, value); });
    if (held != model_->live()) return "the live entries are not those of the model";
    const TableStats stats = table_.stats();
    if (stats.created != model_->created) return "created differs from the model";
    if (stats.erased > model_->erased) return "erased differs from the model";
    if (stats.refusals != refusals_) return "refusals are not the inserts that found no place";
    if (stats.size != held.size() + model_->not_handed_over())
      return "the size is not live + owed entries";
    return std::nullopt;
  }

  // Hands over what is dead and compares the account: created = live + erased + handed over.
  std::optional<std::string_view> settle() {
    table_.maintain(table_.bucket_count());
    if (!*was_owed_) return "an entry was handed over that had not died, or twice";
    if (model_->not_handed_over() != 0) return "an entry died and was never handed over";
    const TableStats stats = table_.stats();
    if (stats.created != model_->live().size() + stats.erased + stats.handed_over) {
      return "created is not live + erased + handed over";
    }
    if (stats.erased != model_->erased) return "erased differs from the model";
    return compare_all();
  }

  Table& table() { return table_; }

 private:
  static constexpr size_t kLanesMax = 150;

  template <class Choose>
  std::vector<Key> choose_keys(Choose& choose) {
    static constexpr std::array<size_t, 12> kSizes = {0,  1,  1,  2,  3,   31,
                                                      32, 33, 64, 65, 100, kLanesMax};
    std::vector<Key> keys(kSizes[choose(kSizes.size())]);
    for (Key& key : keys) key = Key::of(choose(key_universe_));
    return keys;
  }

  template <class Choose>
  TickCount choose_timeout(Choose& choose) {
    static constexpr std::array<TickCount, 8> kEdges = {0, 1, 2, 10, 1022, 1023, 1024, 70'000};
    return kEdges[choose(kEdges.size())];
  }

  template <class Choose>
  void insert(Choose& choose, IfExisting if_existing) {
    const std::vector<Key> keys = choose_keys(choose);
    std::vector<ValueT> values;
    std::vector<TickCount> timeouts;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      values.push_back(ValueT::of(choose(1U << 30)));
      timeouts.push_back(choose_timeout(choose));
    }
    std::vector<ValueT> in_out = values;
    std::vector<InsertOutcome> outcomes(keys.size());
    const std::span<const TickCount> each(timeouts);
    const size_t done = if_existing == IfExisting::kOverwrite
                            ? table_.insert(keys, values, outcomes, Timeouts(each))
                            : table_.upsert(keys, in_out, outcomes, Timeouts(each));
    size_t expected_done = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      auto* existing = model_->find(keys[lane]);
      InsertOutcome expected = InsertOutcome::kInserted;
      if (existing)
        expected = if_existing == IfExisting::kOverwrite ? InsertOutcome::kUpdated
                                                         : InsertOutcome::kExisting;
      if (outcomes[lane] == InsertOutcome::kFull && !existing) {
        ++refusals_;
        continue;
      }
      ++expected_done;
      if (outcomes[lane] != expected) wrong_ = "an insert had another outcome than the model";
      if (expected == InsertOutcome::kExisting) {
        if (in_out[lane] != existing->value)
          wrong_ = "an upsert returned another value than the model's";
        continue;
      }
      model_->insert(keys[lane], values[lane], timeouts[lane]);
    }
    if (done != expected_done) wrong_ = "an insert returned another count than its outcomes say";
  }

  template <class Choose>
  void erase(Choose& choose) {
    const std::vector<Key> keys = choose_keys(choose);
    HitArray<kLanesMax> erased;
    size_t expected = 0;
    const size_t count = table_.erase(keys, erased);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const bool was_there = model_->erase(keys[lane]);
      expected += was_there ? 1U : 0U;
      if (erased.test(lane) != was_there) wrong_ = "an erase had another outcome than the model";
    }
    if (count != expected) wrong_ = "an erase returned another count than its bits say";
  }

  void check_hits(const std::vector<Key>& keys, const std::vector<ValueT>& out,
                  const ValueT& untouched, const HitArray<kLanesMax>& hits, size_t count) {
    size_t expected = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      const auto* entry = model_->find(keys[lane]);
      expected += entry ? 1U : 0U;
      if (hits.test(lane) != (entry != nullptr))
        wrong_ = "a lookup's hit bit differs from the model";
      if (out[lane] != (entry ? entry->value : untouched))
        wrong_ = "a lookup's value differs from the model";
    }
    if (count != expected) wrong_ = "a lookup returned another count than its bits say";
  }

  template <class Choose>
  void lookup(Choose& choose) {
    const std::vector<Key> keys = choose_keys(choose);
    const ValueT untouched = ValueT::of(~uint64_t{0});
    std::vector<ValueT> out(keys.size(), untouched);
    HitArray<kLanesMax> hits;
    size_t count = 0;
    std::vector<Hash64> hashes(keys.size());
    std::vector<const Key*> pointers;
    for (const Key& key : keys) pointers.push_back(&key);
    switch (choose(4)) {
      case 0:
        count = table_.lookup(keys, out, hits);
        break;
      case 1:
        count = table_.lookup(pointers, out, hits);
        break;
      case 2:
        table_.hash_batch(keys, hashes);
        count = table_.lookup(
            HashedKeys{std::span<const Key>(keys), std::span<const Hash64>(hashes)}, out, hits);
        break;
      default: {
        const TickCount timeout = choose_timeout(choose);
        count = table_.lookup_refresh(keys, timeout, out, hits);
        check_hits(keys, out, untouched, hits, count);
        for (const Key& key : keys) {
          if (model_->find(key)) model_->refresh(key, timeout);
        }
        return;
      }
    }
    check_hits(keys, out, untouched, hits, count);
  }

  template <class Choose>
  void find(Choose& choose) {
    const std::vector<Key> keys = choose_keys(choose);
    std::vector<ValueT*> found(keys.size(), nullptr);
    HitArray<kLanesMax> hits;
    const ValueT nothing = ValueT::of(0);
    const size_t count = table_.find(keys, found, hits);
    std::vector<ValueT> out;
    for (const ValueT* value : found) out.push_back(value ? *value : nothing);
    check_hits(keys, out, nothing, hits, count);
  }

  template <class Choose>
  void refresh(Choose& choose) {
    const Key key = Key::of(choose(key_universe_));
    const TickCount timeout = choose_timeout(choose);
    const ValueT* found = table_.find(key);
    if ((found != nullptr) != (model_->find(key) != nullptr))
      wrong_ = "find differs from the model";
    if (found == nullptr) return;
    table_.refresh(found, timeout);
    model_->refresh(key, timeout);
  }

  template <class Choose>
  void split_phase(Choose& choose) {
    const std::vector<Key> first = choose_keys(choose);
    const std::vector<Key> second = choose_keys(choose);
    const ValueT untouched = ValueT::of(~uint64_t{0});
    HitArray<kLanesMax> hits;
    auto flight = table_.start(std::span<const Key>(first));
    if (choose(2) == 0) insert(choose, IfExisting::kOverwrite);  // the table may change in between
    std::vector<ValueT> out(first.size(), untouched);
    size_t count = table_.lookup_and_start(flight, out, hits, std::span<const Key>(second));
    check_hits(first, out, untouched, hits, count);
    out.assign(second.size(), untouched);
    count = table_.lookup(flight, out, hits);
    check_hits(second, out, untouched, hits, count);
  }

  template <class Choose>
  void advance(Choose& choose) {
    static constexpr std::array<uint64_t, 8> kJumps = {0, 1, 1, 2, 5, 1023, 1024, 30'000};
    const uint64_t now = model_->now() + kJumps[choose(kJumps.size())];
    if (Expiry::kEnabled && Tick{now} > table_.scan_deadline()) {
      while (table_.scan_deadline() < Tick{now}) table_.maintain(table_.bucket_count());
    }
    model_->advance(now);
    if (table_.advance(Tick{now}) != AdvanceOutcome::kAdvanced)
      wrong_ = "time could not be advanced";
  }

  void clear() {
    table_.clear();
    model_->clear();
  }

  std::unique_ptr<FlowModel<Key, ValueT>> model_;
  std::unique_ptr<bool> was_owed_;
  Table table_;
  uint64_t key_universe_;
  uint64_t refusals_ = 0;
  std::optional<std::string_view> wrong_;
};

}  // namespace roost
