// DPDK's rte_hash behind the functions of FlowTable that the load balancer calls, so that one
// datapath runs on either (roost/conntrack/tables.h).
//
// rte_hash keeps 8 bytes of data beside a key and has no time. A table of small values without
// expiry keeps them there (its fast form). One with expiry keeps value and last tick of life in a
// record of its own by the key's position, as connection trackers on rte_hash do: a hit costs the
// record's line too, and an expired entry is found in the table, and its record says that it has
// expired. maintain() walks the records as FlowTable's walks the buckets.
//
// Threads: one at a time.
#pragma once

#include <rte_hash.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/table/flow_table.h"

namespace roost::lab {

namespace rte {

inline constexpr size_t kLanesPerCallMax = 32;
using KeyPointers = std::array<const void*, kLanesPerCallMax>;

}  // namespace rte

// Values of at most 8 bytes, without expiry.
template <class Key, class Value>
class RteHashPlainTable {
  static_assert(sizeof(Value) <= sizeof(void*) && std::is_trivially_copyable_v<Value>);

 public:
  static constexpr double kPromisedLoad = 0.95;
  using Config = TableConfig;

  static Result<RteHashPlainTable> create(const Config& config) {
    Result<MadeRteHash> made = make_rte_hash(config.capacity, sizeof(Key));
    if (!made) return made.error();
    return RteHashPlainTable(std::move(made).value());
  }

  // As FlowTable's: keys by pointer, or side by side.
  size_t lookup(std::span<const Key* const> keys, std::span<Value> out, HitWords hits) const {
    ROOST_ASSERT(keys.size() <= rte::kLanesPerCallMax);
    rte::KeyPointers pointers;
    std::ranges::copy(keys, pointers.begin());
    return look_up(pointers, keys.size(), out, hits);
  }
  size_t lookup(std::span<const Key> keys, std::span<Value> out, HitWords hits) const {
    ROOST_ASSERT(keys.size() <= rte::kLanesPerCallMax);
    rte::KeyPointers pointers;
    for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
    return look_up(pointers, keys.size(), out, hits);
  }
  // Valid until the next find.
  [[nodiscard]] const Value* find(const Key& key) {
    void* data = nullptr;
    if (rte_hash_lookup_data(table_.get(), &key, &data) < 0) return nullptr;
    std::memcpy(&found_, &data, sizeof(Value));
    return &found_;
  }
  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value) {
    void* data = nullptr;
    std::memcpy(&data, &value, sizeof(Value));
    return rte_hash_add_key_data(table_.get(), &key, data) == 0 ? InsertOutcome::kInserted
                                                                : InsertOutcome::kFull;
  }
  bool erase(const Key& key) { return rte_hash_del_key(table_.get(), &key) >= 0; }

  [[nodiscard]] uint64_t size() const {
    return static_cast<uint64_t>(rte_hash_count(table_.get()));
  }
  [[nodiscard]] uint64_t memory_bytes() const { return table_bytes_; }
  [[nodiscard]] std::optional<Violation> audit() const { return {}; }

 private:
  explicit RteHashPlainTable(MadeRteHash made)
      : table_(std::move(made.table)), table_bytes_(made.bytes) {}

  size_t look_up(rte::KeyPointers& pointers, size_t count, std::span<Value> out,
                 HitWords hits) const {
    hits.clear(count);
    if (count == 0) return 0;
    std::array<void*, rte::kLanesPerCallMax> data;
    uint64_t found = 0;
    rte_hash_lookup_bulk_data(table_.get(), pointers.data(), static_cast<uint32_t>(count), &found,
                              data.data());
    for (uint64_t lanes = found; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(lanes));
      std::memcpy(&out[lane], &data[lane], sizeof(Value));
    }
    hits.write_group(0, static_cast<uint32_t>(found));
    return static_cast<size_t>(std::popcount(found));
  }

  RteHashHandle table_;
  uint64_t table_bytes_;
  Value found_{};
};

// With expiry; `Callback` is called once for each entry that expires.
template <class Key, class Value, class Callback>
class RteHashTimedTable {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  static constexpr double kPromisedLoad = 0.95;
  static constexpr unsigned kSlots =
      8;  // a bucket is eight positions, wherever rte_hash keeps them
  using Config = TableConfig;

  static Result<RteHashTimedTable> create(const Config& config, Callback callback) {
    Result<MadeRteHash> made = make_rte_hash(config.capacity, sizeof(Key));
    if (!made) return made.error();
    const auto positions = static_cast<uint64_t>(rte_hash_max_key_id(made.value().table.get())) + 1;
    Result<Arena> records = Arena::map(positions * sizeof(Record), {});
    if (!records) return records.error();
    return RteHashTimedTable(std::move(made).value(), std::move(records).value(), positions,
                             std::move(callback));
  }

  size_t find(std::span<const Key> keys, std::span<Value*> out, HitWords hits) {
    ROOST_ASSERT(keys.size() <= rte::kLanesPerCallMax);
    hits.clear(keys.size());
    if (keys.empty()) return 0;
    rte::KeyPointers pointers;
    for (size_t lane = 0; lane < keys.size(); ++lane) pointers[lane] = &keys[lane];
    std::array<int32_t, rte::kLanesPerCallMax> positions;
    rte_hash_lookup_bulk(table_.get(), pointers.data(), static_cast<uint32_t>(keys.size()),
                         positions.data());
    for (size_t lane = 0; lane < keys.size(); ++lane)
      if (positions[lane] >= 0) rte_prefetch0(&record(positions[lane]));
    uint32_t live = 0;
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (positions[lane] < 0 || !is_live(record(positions[lane]))) continue;
      out[lane] = &record(positions[lane]).value;
      live |= uint32_t{1} << lane;
    }
    hits.write_group(0, live);
    return static_cast<size_t>(std::popcount(live));
  }
  [[nodiscard]] Value* find(const Key& key) {
    const int32_t position = rte_hash_lookup(table_.get(), &key);
    return position >= 0 && is_live(record(position)) ? &record(position).value : nullptr;
  }

  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value, TickCount timeout) {
    const int32_t position = rte_hash_add_key(table_.get(), &key);
    if (position < 0) return InsertOutcome::kFull;
    Record& made = record(position);
    if (made.is_used && !is_live(made)) callback_(key, made.value);
    made = {.value = value, .is_used = true, .last_tick = now_.count + timeout};
    return InsertOutcome::kInserted;
  }
  bool erase(const Key& key) {
    const int32_t position = rte_hash_del_key(table_.get(), &key);
    if (position >= 0) record(position).is_used = false;
    return position >= 0;
  }
  void refresh(const Value* found, TickCount timeout) {
    auto* one = reinterpret_cast<Record*>(reinterpret_cast<uintptr_t>(found));  // its first member
    one->last_tick = now_.count + timeout;
  }
  [[nodiscard]] TickCount ticks_left(const Value* found) const {
    return static_cast<TickCount>(reinterpret_cast<const Record*>(found)->last_tick - now_.count);
  }

  AdvanceOutcome advance(Tick now) {
    now_ = now;
    return AdvanceOutcome::kAdvanced;
  }
  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] Tick scan_deadline() const { return {~uint64_t{0}}; }  // ticks do not wrap

  [[nodiscard]] uint64_t bucket_count() const { return (position_count_ + kSlots - 1) / kSlots; }
  uint64_t maintain(uint64_t bucket_budget) {
    uint64_t expired = 0;
    for (uint64_t i = 0; i < std::min(kSlots * bucket_budget, position_count_); ++i) {
      const uint64_t position = swept_;
      swept_ = swept_ + 1 == position_count_ ? 0 : swept_ + 1;
      const Record& one = record(position);
      if (!one.is_used || is_live(one)) continue;
      const Key key = key_at(position);
      callback_(key, one.value);
      erase(key);
      ++expired;
    }
    return expired;
  }

  // As FlowTable's; a cursor's slot is a position.
  template <class Visit>
  bool scan(Cursor& cursor, uint64_t bucket_budget, Visit&& visit) {
    const uint64_t end =
        std::min(cursor.next_slot / kSlots * kSlots + kSlots * bucket_budget, position_count_);
    while (cursor.next_slot < end) {
      const uint64_t position = cursor.next_slot++;
      if (record(position).is_used && is_live(record(position)))
        visit(key_at(position), record(position).value);
    }
    return end < position_count_;
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    Cursor cursor;
    scan(cursor, bucket_count(), visit);
  }

  [[nodiscard]] uint64_t capacity() const { return position_count_; }
  [[nodiscard]] uint64_t size() const {
    return static_cast<uint64_t>(rte_hash_count(table_.get()));
  }
  [[nodiscard]] uint64_t memory_bytes() const { return table_bytes_ + records_.bytes(); }
  [[nodiscard]] PageKind page_kind() const { return records_.page_kind(); }
  [[nodiscard]] Isa isa() const { return isa_best(); }
  [[nodiscard]] std::optional<Violation> audit() const { return {}; }

 private:
  struct Record {
    Value value;
    bool is_used = false;
    uint64_t last_tick = 0;  // of its life
  };

  RteHashTimedTable(MadeRteHash made, Arena records, uint64_t position_count, Callback callback)
      : table_(std::move(made.table)),
        table_bytes_(made.bytes),
        records_(std::move(records)),
        position_count_(position_count),
        callback_(std::move(callback)) {}

  template <class Position>
  [[nodiscard]] Record& record(Position position) const {
    return reinterpret_cast<Record*>(records_.data())[position];
  }
  [[nodiscard]] bool is_live(const Record& one) const { return now_.count <= one.last_tick; }
  [[nodiscard]] Key key_at(uint64_t position) const {
    void* stored = nullptr;
    const int found =
        rte_hash_get_key_with_position(table_.get(), static_cast<int32_t>(position), &stored);
    ROOST_ASSERT(found == 0);
    Key key;
    std::memcpy(&key, stored, sizeof(Key));
    return key;
  }

  RteHashHandle table_;
  uint64_t table_bytes_;
  Arena records_;
  uint64_t position_count_;
  Callback callback_;
  Tick now_{};
  uint64_t swept_ = 0;  // position at which maintain() goes on
};

struct RteHashTables {
  template <class Key, class Value>
  using Plain = RteHashPlainTable<Key, Value>;
  template <class Key, class Value, class Callback>
  using Timed = RteHashTimedTable<Key, Value, Callback>;
};

}  // namespace roost::lab
