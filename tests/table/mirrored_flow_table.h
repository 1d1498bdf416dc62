// FlowTable as the mirrored operations see it.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "roost/table/flow_table.h"
#include "tests/table/mirror.h"
#include "tests/table/mirrored_table.h"
#include "tests/table/test_types.h"

namespace roost {

struct MirrorCallback {
  MirroredTable* table = nullptr;
  template <class Key, class Value>
  void operator()(const Key& key, const Value& value) {
    table->on_eviction(reinterpret_cast<const std::byte*>(&key),
                       reinterpret_cast<const std::byte*>(&value));
  }
};

template <class ExpiryT, class ProbingT, class HashT>
struct MirroredPolicies : DefaultPolicies {
  using Hash = HashT;
  using Expiry = ExpiryT;
  using Probing = ProbingT;
  using EvictionCallback = MirrorCallback;
  using Probe = LookupCounts;
};

template <class Key, class Value, class Expiry, class Probing, class Hash>
class MirroredFlowTable final : public MirroredTable {
  using Table = FlowTable<Key, Value, MirroredPolicies<Expiry, Probing, Hash>>;
  static constexpr size_t kValueBytes = std::is_empty_v<Value> ? 0 : sizeof(Value);

 public:
  explicit MirroredFlowTable(const TableConfig& config)
      : table_(Table::create(config, {this}).value()) {}

  [[nodiscard]] EntrySizes sizes() const override {
    return {sizeof(Key), kValueBytes, Expiry::kEnabled};
  }
  void write_key(uint64_t number, std::byte* key) const override {
    const Key made = Key::of(number);
    std::memcpy(key, &made, sizeof(Key));
  }
  void write_value(uint64_t number, std::byte* value) const override {
    const Value made = Value::of(number);
    if constexpr (kValueBytes != 0) std::memcpy(value, &made, kValueBytes);
  }

  size_t lookup(KeyForm form, Keys keys, std::byte* values, HitWords hits) override {
    const std::span<const Key> span = keys_of(keys);
    switch (form) {
      case KeyForm::kPointers: {
        std::vector<const Key*> pointers;
        for (const Key& key : span) pointers.push_back(&key);
        return table_.lookup(pointers, values_of(values, keys.count), hits);
      }
      case KeyForm::kHashed: {
        std::vector<Hash64> hashes(keys.count);
        table_.hash_batch(span, hashes);
        return table_.lookup(HashedKeys{span, std::span<const Hash64>(hashes)},
                             values_of(values, keys.count), hits);
      }
      default:
        return table_.lookup(span, values_of(values, keys.count), hits);
    }
  }
  size_t lookup_refresh(Keys keys, TickCount timeout, std::byte* values, HitWords hits) override {
    return table_.lookup_refresh(keys_of(keys), timeout, values_of(values, keys.count), hits);
  }
  size_t find(Keys keys, std::byte** found, HitWords hits) override {
    std::vector<Value*> typed(keys.count, nullptr);
    const size_t count = table_.find(keys_of(keys), typed, hits);
    for (size_t lane = 0; lane < keys.count; ++lane)
      found[lane] = reinterpret_cast<std::byte*>(typed[lane]);
    return count;
  }
  void refresh(const std::byte* found, TickCount timeout) override {
    table_.refresh(reinterpret_cast<const Value*>(found), timeout);
  }
  [[nodiscard]] TickCount ticks_left(const std::byte* found) const override {
    return table_.ticks_left(reinterpret_cast<const Value*>(found));
  }

  void start(Keys keys) override {
    flight_.emplace(table_.start(keys_of(keys)));
    started_count_ = keys.count;
  }
  size_t lookup_and_start(std::byte* values, HitWords hits, Keys next_keys) override {
    const size_t count = table_.lookup_and_start(*flight_, values_of(values, started_count_), hits,
                                                 keys_of(next_keys));
    started_count_ = next_keys.count;
    return count;
  }
  size_t lookup_started(std::byte* values, HitWords hits) override {
    return table_.lookup(*flight_, values_of(values, started_count_), hits);
  }

  size_t insert(Keys keys, const std::byte* values, std::vector<InsertOutcome>& outcomes,
                const std::vector<TickCount>& timeouts) override {
    const std::span<const Value> typed(reinterpret_cast<const Value*>(values), keys.count);
    return table_.insert(keys_of(keys), typed, outcomes, each_of(timeouts));
  }
  size_t upsert(Keys keys, std::byte* values, std::vector<InsertOutcome>& outcomes,
                const std::vector<TickCount>& timeouts) override {
    return table_.upsert(keys_of(keys), values_of(values, keys.count), outcomes, each_of(timeouts));
  }
  size_t erase(Keys keys, HitWords erased) override { return table_.erase(keys_of(keys), erased); }
  void clear() override { table_.clear(); }
  void for_each(const Visit& visit) override {
    table_.for_each([&](const Key& key, const Value& value) {
      visit(reinterpret_cast<const std::byte*>(&key), reinterpret_cast<const std::byte*>(&value));
    });
  }

  AdvanceOutcome advance(Tick now) override { return table_.advance(now); }
  uint64_t maintain(uint64_t bucket_budget) override { return table_.maintain(bucket_budget); }
  [[nodiscard]] Tick scan_deadline() const override { return table_.scan_deadline(); }
  [[nodiscard]] uint64_t bucket_count() const override { return table_.bucket_count(); }
  [[nodiscard]] TableStats stats() const override { return table_.stats(); }
  std::optional<Violation> audit() override { return table_.audit(); }

 private:
  static std::span<const Key> keys_of(Keys keys) {
    return {reinterpret_cast<const Key*>(keys.bytes), keys.count};
  }
  static std::span<Value> values_of(std::byte* values, size_t count) {
    return {reinterpret_cast<Value*>(values), count};
  }
  static Timeouts each_of(const std::vector<TickCount>& timeouts) {
    return Timeouts(std::span<const TickCount>(timeouts));
  }

  Table table_;
  std::optional<decltype(std::declval<const Table&>().start(std::span<const Key>()))> flight_;
  size_t started_count_ = 0;
};

// A table of a type between its mirror.
template <class Key, class Value, class Expiry, class Probing, class Hash = TestHash>
struct MirrorOf {
  static Mirror make(const TableConfig& config, uint64_t key_universe) {
    return Mirror(std::make_unique<MirroredFlowTable<Key, Value, Expiry, Probing, Hash>>(config),
                  key_universe);
  }
  static Mirror make(uint64_t capacity, uint64_t key_universe, Isa isa, uint64_t hash_seed = 7) {
    return make(
        {.capacity = capacity, .hash_seed = hash_seed, .pages = PageKind::kSmall, .isa = isa},
        key_universe);
  }
};

}  // namespace roost
