// A table of connections as key -> index -> record (CT-01), behind the functions of FlowTable that
// a connection tracker calls (roost/conntrack/tables.h), so that one datapath runs on any table.
//
// A record has the value and the last tick of its life, so a hit costs the record's line beside the
// table's; an expired entry is found in the table, and its record says that it has expired. What
// has expired is found by one of the ways of record_expiry.h.
//
// Which table it is, is known when it is made, so that the datapath is compiled once for all of
// them: a call of the index costs a jump by a pointer, once a batch.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "lab/store/index.h"
#include "lab/store/record_expiry.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/expiry/slot_timers.h"
#include "roost/isa/isa.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"
#include "roost/table/audit.h"
#include "roost/table/cursor.h"
#include "roost/table/insert_outcome.h"
#include "roost/table/key_source.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/mutate_batch.h"
#include "roost/table/table_image.h"

namespace roost::lab {

// `Callback` is called with key and value once for each entry that expires.
template <class KeyT, class Value, class Callback>
class RecordTable {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  using Key = KeyT;
  static constexpr double kPromisedLoad = 0.95;  // of a table of ours that has such a config
  static constexpr unsigned kSlots = 8;  // what walks and sweeps call a bucket: so many records

  struct Config {
    ExpiryKind expiry = ExpiryKind::kScan;
    double scan_share = 0;  // of a scan of the table: see RecordTables
    ArenaOptions memory{};
    std::shared_ptr<uint64_t> looks;  // see RecordTables
  };

  static Result<RecordTable> create(std::unique_ptr<Index<Key>> index, const Config& config,
                                    Callback callback) {
    Result<Arena> records = Arena::map(index->index_count() * sizeof(Record), config.memory);
    if (!records) return records.error();
    Result<Expiry> expiry = make_expiry(
        config.expiry, index->index_count(),
        {.next = [of = index.get()](auto indices) { return of->next_indices(indices); },
         .per_call =
             static_cast<uint64_t>(config.scan_share * static_cast<double>(index->index_count()))},
        config.memory);
    if (!expiry) return expiry.error();
    return RecordTable(std::move(index), std::move(records).value(), std::move(expiry).value(),
                       config.looks, std::move(callback));
  }

  // Not all tables can be told ahead.
  [[nodiscard]] static Hash64 prefetch(const Key& /*key*/) { return {}; }
  size_t find(const PrefetchedKeys<std::span<const Key>>& asked, std::span<Value*> out,
              HitWords hits) {
    return find(asked.keys, out, hits);
  }
  // Lanes that miss are nullptr.
  size_t find(std::span<const Key> keys, std::span<Value*> out, HitWords hits) {
    std::array<uint32_t, kIndexLanesMax> indices;
    index_->lookup(keys, {records_.data(), sizeof(Record)}, indices, hits);
    uint32_t live = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      out[lane] = nullptr;
      if (!hits.test(lane) || !is_live(record(indices[lane]))) continue;
      out[lane] = &record(indices[lane]).value;
      live |= uint32_t{1} << lane;
    }
    hits.write_group(0, live);
    return static_cast<size_t>(std::popcount(live));
  }
  [[nodiscard]] Value* find(const Key& key) {
    Value* value = nullptr;
    HitArray<1> hits;
    find(std::span<const Key>(&key, 1), std::span<Value*>(&value, 1), hits);
    return value;
  }

  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value, TickCount timeout) {
    Record* made = nullptr;
    const InsertOutcome outcome = find_or_make(key, made);
    if (is_refusal(outcome)) return outcome;
    begin(*made, value, timeout);
    return outcome == InsertOutcome::kExisting ? InsertOutcome::kUpdated : outcome;
  }
  // One by one: not all tables can do it otherwise.
  size_t upsert(const PrefetchedKeys<std::span<const Key>>& asked, std::span<Value> values,
                std::span<InsertOutcome> outcomes, Timeouts timeouts) {
    size_t taken = 0;
    for (size_t lane = 0; lane < asked.keys.size(); ++lane) {
      Record* made = nullptr;
      outcomes[lane] = find_or_make(asked.keys[lane], made);
      if (outcomes[lane] == InsertOutcome::kExisting) values[lane] = made->value;
      if (outcomes[lane] == InsertOutcome::kInserted) begin(*made, values[lane], timeouts[lane]);
      taken += is_refusal(outcomes[lane]) ? size_t{0} : size_t{1};
    }
    return taken;
  }
  bool erase(const Key& key) {
    const std::optional<uint32_t> index = index_->erase(key);
    if (!index) return false;
    record(*index).is_used = false;
    std::visit([index](auto& expiry) { expiry.end(*index); }, expiry_);
    return true;
  }
  void refresh(const Value* found, TickCount timeout) {
    Record& one = record_of(found);
    const uint64_t last_tick = now_.count + timeout;
    const bool ends_earlier = last_tick < std::exchange(one.last_tick, last_tick);
    if (!ends_earlier) return;  // when it is looked at, it says so
    const auto index = static_cast<uint32_t>(&one - &record(0));
    std::visit([&](auto& expiry) { expiry.begin(index, after_life(one)); }, expiry_);
  }
  [[nodiscard]] TickCount ticks_left(const Value* found) const {
    return static_cast<TickCount>(record_of(found).last_tick - now_.count);
  }

  AdvanceOutcome advance(Tick now) {
    now_ = now;
    return AdvanceOutcome::kAdvanced;
  }
  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] Tick scan_deadline() const { return {~uint64_t{0}}; }  // ticks do not wrap

  [[nodiscard]] uint64_t bucket_count() const {
    return (index_->index_count() + kSlots - 1) / kSlots;
  }
  // Looks at kSlots records for each bucket of the budget.
  uint64_t maintain(uint64_t bucket_budget) {
    Expired expired;
    *looks_ += std::visit(
        [&](auto& expiry) {
          return expiry.maintain(
              now_, kSlots * bucket_budget,
              [this](uint32_t index) {
                roost::prefetch(PrefetchHint::kT0, &record(index));
                index_->ask_for_key(index);
              },
              [&](uint32_t index) { return look(index, expired); });
        },
        expiry_);
    erase_all(expired);
    return expired.total;
  }

  // As FlowTable's; a cursor's slot is an index.
  template <class Visit>
  bool scan(Cursor& cursor, uint64_t bucket_budget, Visit&& visit) {
    const uint64_t end = std::min(cursor.next_slot / kSlots * kSlots + kSlots * bucket_budget,
                                  index_->index_count());
    while (cursor.next_slot < end) {
      const auto index = static_cast<uint32_t>(cursor.next_slot++);
      if (record(index).is_used && is_live(record(index)))
        visit(index_->key_at(index), record(index).value);
    }
    return end < index_->index_count();
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    Cursor cursor;
    scan(cursor, bucket_count(), visit);
  }

  [[nodiscard]] uint64_t capacity() const { return index_->index_count(); }
  [[nodiscard]] uint64_t size() const { return index_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return index_->memory_bytes() + records_.bytes() +
           std::visit([](const auto& expiry) { return expiry.memory_bytes(); }, expiry_);
  }
  [[nodiscard]] PageKind page_kind() const { return records_.page_kind(); }
  [[nodiscard]] Isa isa() const { return isa_best(); }
  // Every entry has a record that is used, and no other record is.
  [[nodiscard]] std::optional<Violation> audit() const {
    uint64_t used = 0;
    for (uint64_t index = 0; index < index_->index_count(); ++index)
      used += record(static_cast<uint32_t>(index)).is_used ? uint64_t{1} : 0;
    if (used == size()) return {};
    return Violation{0, BucketIndex{0}, 0, "as many records in use as there are entries"};
  }

 private:
  struct Record {
    Value value;
    bool is_used = false;
    uint64_t last_tick = 0;  // of its life
  };
  static_assert(std::is_standard_layout_v<Record>);  // a value's address is its record's

  RecordTable(std::unique_ptr<Index<Key>> index, Arena records, Expiry expiry,
              std::shared_ptr<uint64_t> looks, Callback callback)
      : index_(std::move(index)),
        records_(std::move(records)),
        expiry_(std::move(expiry)),
        looks_(std::move(looks)),
        callback_(std::move(callback)) {}

  // The record of a key, which is a live one's (kExisting) or has to begin (kInserted).
  [[nodiscard]] InsertOutcome find_or_make(const Key& key, Record*& made) {
    const std::optional<uint32_t> index = index_->insert(key);
    if (!index) return InsertOutcome::kFull;
    made = &record(*index);
    if (made->is_used && is_live(*made)) return InsertOutcome::kExisting;
    if (made->is_used) callback_(key, made->value);
    return InsertOutcome::kInserted;
  }
  void begin(Record& made, const Value& value, TickCount timeout) {
    made = {.value = value, .is_used = true, .last_tick = now_.count + timeout};
    const auto index = static_cast<uint32_t>(&made - &record(0));
    std::visit([&](auto& expiry) { expiry.begin(index, after_life(made)); }, expiry_);
  }

  [[nodiscard]] Record& record(uint32_t index) const {
    return reinterpret_cast<Record*>(records_.data())[index];
  }
  [[nodiscard]] static Record& record_of(const Value* value) {
    return *reinterpret_cast<Record*>(reinterpret_cast<uintptr_t>(value));
  }
  [[nodiscard]] bool is_live(const Record& one) const { return now_.count <= one.last_tick; }
  // The first tick in which a record is over if it is not used again.
  [[nodiscard]] static Tick after_life(const Record& one) { return {one.last_tick + 1}; }

  // What is erased together, once for their waits for memory.
  struct Expired {
    std::array<Key, kIndexLanesMax> keys;
    size_t count = 0;
    uint64_t total = 0;
  };

  // Takes note of a record that has expired; when to look again at one that has not.
  [[nodiscard]] std::optional<Tick> look(uint32_t index, Expired& expired) {
    Record& one = record(index);
    if (!one.is_used) return {};
    if (is_live(one)) return after_life(one);
    expired.keys[expired.count] = index_->key_at(index);
    callback_(expired.keys[expired.count++], one.value);
    one.is_used = false;
    if (expired.count == expired.keys.size()) erase_all(expired);
    return {};
  }
  void erase_all(Expired& expired) {
    index_->erase_all(std::span(expired.keys).first(expired.count));
    expired.total += std::exchange(expired.count, 0);
  }

  std::unique_ptr<Index<Key>> index_;
  Arena records_;
  Expiry expiry_;
  std::shared_ptr<uint64_t> looks_;
  Callback callback_;
  Tick now_{};
};

}  // namespace roost::lab
