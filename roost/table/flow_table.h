// The flow table (Cuckoo++, ANCS 2018): exact match of flow keys in batches, with expiry inside.
//
// Design, simplest table first. Each step has its price, the cache lines that a lookup touches, and
// its gain, millions of lookups a second (32M slots, load 0.8, 32 keys a call, one core):
//
//                                                            lines      millions/s
//   step            what it adds                           hit  miss   hits  misses  record
//   two buckets     a line of eight tags, entries beside  2.08  2.00   33.6    43.5   [a]
//   + filter        says which keys may be in the second  2.08  1.00   30.4    79.7   [a]
//   + timers        16 bits a slot of the same line       2.08  1.00   30.1    79.3   [a]
//   (again)         the filtered table in record [b]      2.08  1.00   30.5    77.2   [b]
//   + inline lines  two or three entries in the line      1.31  1.07   41.2    48.8   [b]
//   + batches       the waits for lines overlap           1.86          3.7 -> 37.1   [c]
//
// The filter (tag_line.h) saves a miss the second line. Timers (slot_timers.h) need no line. Inline
// lines (inline_line.h) save a hit the entry's line; with fewer slots a bucket more keys are
// displaced, and misses are slower. Batches (lookup_batch.h) touch the same lines: 3.7 is one key a
// call, 37.1 are 32, and 128 give 53.7 (20 % misses). Keys and values are 16 bytes, inline keys 13.
// [a] lab/record/2018-cuckoopp-20261122T0149Z-3a1c373ca1, [b] table-20261123T1323Z-16880dc1f8,
// [c] table-20261121T1835Z-4cc35f1efb. The algorithm is engine.h's, the bytes are layout.h's.
//
//   auto table = roost::FlowTable<FlowKey4, Flow>::create({.capacity = 1'000'000}).value();
//   if (table.insert(key, Flow{...}) == roost::InsertOutcome::kFull) ...
//   roost::HitArray<32> hits;
//   table.lookup(std::span<const FlowKey4>(keys), std::span<Flow>(flows), hits);
//
// Lookup contract: any batch size; `hits` has one bit a lane and is the truth; lanes that miss
// leave their output untouched; every form returns the number of hits. In mutating batches,
// duplicate keys act in lane order.
//
// Wherever a function takes `keys`, it takes one of
//   std::span<const Key>                     keys side by side (or what converts to it)
//   std::span<const Key* const>              pointers to keys
//   HashedKeys{either of them, hashes}       with hashes from hash_batch()
//   PrefetchedKeys{either of them, hashes}   with hashes from prefetch(), which has asked for lines
//   a lookup in flight, from start()         start() asks for memory, the lookup answers later
//
// Limits: keys of 1 to 64 bytes without padding inside (as they are, or with zeroes behind them; of
// up to 60 bits with 2 bytes of value, in a word: packed_layout.h), values of 0 to 256 bytes, both
// trivially copyable and aligned to at most 8. A full table refuses (kFull) and stays as it was;
// from 4,096 slots up that does not happen below kPromisedLoad. Above it, inserts that follow a
// refusal look for room in 32 buckets only, until an entry leaves. A key type whose last bytes are
// always zero may say so (significant_bytes): they are not stored where that saves memory.
//
// Threads: one at a time, for lookups too. Give each worker a table, or see SharedTable.
//
// A span that is too short for its batch, or the value of a Result without one, ends the process
// with a sentence, in release builds too.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/table/hint_choice.h"
#include "roost/table/key_source.h"
#include "roost/table/layout_choice.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/policies.h"
#include "roost/table/table_core.h"
#include "roost/table/typed_lookups.h"

namespace roost {

template <class Key, class Value, class Policies = DefaultPolicies>
class FlowTable : public TypedLookups<FlowTable<Key, Value, Policies>, Key, Value> {
  static constexpr bool kIsSet = EntryTypes<Key, Value>::kIsSet;
  static constexpr size_t kKeyBytes = EntryTypes<Key, Value>::kKeyBytes;
  static constexpr size_t kValueBytes = EntryTypes<Key, Value>::kValueBytes;

  using EvictionCallback = typename Policies::EvictionCallback;
  using Layout = LayoutOf<Key, Value, Policies>;
  using Core = TableCore<Layout, Policies, TypedEvictionCallback<Key, Value, EvictionCallback>>;
  using EngineType = typename Core::EngineType;

 public:
  using Access = typename Layout::Access;
  using Config = TableConfig;

  // Whether entries stand in the buckets' lines; slots of a bucket; the load up to which a table
  // can promise to accept entries, zero if it promises nothing.
  static constexpr bool kIsInline = Layout::kCandidatesAreExact;
  static constexpr unsigned kSlots = Layout::kSlots;
  static constexpr double kPromisedLoad = Core::kShape.promised_load;

  // Creates an empty table. `eviction_callback` is called with key and value once for each expired
  // entry; it must not call this table. Errors: a capacity out of range, memory unavailable or too
  // small, a kernel not supported here. Clears the lines of lent memory, writes no fresh memory.
  [[nodiscard]] static Result<FlowTable> create(const Config& config,
                                                EvictionCallback eviction_callback = {}) {
    Result<Core> core = Core::create(config, {}, {std::move(eviction_callback)});
    if (!core) return core.error();
    return FlowTable(std::move(core).value());
  }

  // Finds the table that config.memory was lent to, by this process or another one, at any address;
  // one at a time may use it. Only memory, kernel and hint are configured; whether the last user
  // left it whole, audit() says. Errors: the memory holds no such table, or not all of it.
  [[nodiscard]] static Result<FlowTable> adopt(const Config& config,
                                               EvictionCallback eviction_callback = {}) {
    Result<Core> core = Core::adopt(config, {}, {std::move(eviction_callback)});
    if (!core) return core.error();
    return FlowTable(std::move(core).value());
  }

  // --- Lookup. ---

  // lookup, lookup_records, start, lookup_and_start, hash_batch: see typed_lookups.h.

  // Points to the values in place; the pointers are valid until the next insert, upsert, erase,
  // clear or maintain, of any key.
  template <class Keys>
  size_t find(const Keys& keys, std::span<Value*> out, HitWords hits) {
    static_assert(!Access::kIsShared, "what others may read is changed by insert() only");
    return this->run_lookup(this->batch_of(keys), PointToValue<Value>{out}, hits);
  }
  // One key; nullptr on a miss.
  [[nodiscard]] Value* find(const Key& key) {
    Value* value = nullptr;
    HitArray<1> hits;
    find(std::span<const Key>(&key, 1), std::span<Value*>(&value, 1), hits);
    return value;
  }

  // Like lookup, and gives the entries found a new time to live: a write.
  template <class Keys>
  size_t lookup_refresh(const Keys& keys, Timeouts timeouts, std::span<Value> out, HitWords hits) {
    if constexpr (Access::kIsShared) {
      return this->run_lookup(this->batch_of(keys), CopyValueToRefresh<Value>{out, timeouts}, hits);
    } else {
      return this->run_lookup(this->batch_of(keys), CopyAndRefresh{out, &core_.engine(), timeouts},
                              hits);
    }
  }
  // Gives an entry that find() has just found a new time to live.
  void refresh(const Value* found, TickCount timeout) {
    core_.refresh(reinterpret_cast<const std::byte*>(found), timeout);
  }
  // How many ticks an entry that find() or a walk has just found lives on, at most
  // kTimeoutTicksMax; that, without expiry. Zero: to the end of this tick.
  [[nodiscard]] TickCount ticks_left(const Value* found) const {
    return core_.ticks_left(reinterpret_cast<const std::byte*>(found));
  }

  // --- Mutation. Each form returns the number of lanes not refused (of erase, that erased). ---

  // Creates entries, or gives existing ones the new value and timeout. Timeouts above
  // kTimeoutTicksMax become it; without expiry they are ignored. A set's `values` are empty.
  template <class Keys>
  size_t insert(const Keys& keys, std::span<const Value> values, std::span<InsertOutcome> outcomes,
                Timeouts timeouts = {}) {
    const std::span<Value> unchanged(const_cast<Value*>(values.data()), values.size());
    return run_insert(this->batch_of(keys), unchanged, timeouts, outcomes, IfExisting::kOverwrite);
  }
  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value,
                                     TickCount timeout = kTimeoutTicksMax) {
    return insert_one(key, const_cast<Value&>(value), timeout, IfExisting::kOverwrite);
  }

  // Creates the entries that are missing; where a key exists, it stays as it is (its timeout too),
  // and `values` gets what the table holds.
  template <class Keys>
  size_t upsert(const Keys& keys, std::span<Value> values, std::span<InsertOutcome> outcomes,
                Timeouts timeouts = {}) {
    return run_insert(this->batch_of(keys), values, timeouts, outcomes, IfExisting::kKeep);
  }
  [[nodiscard]] InsertOutcome upsert(const Key& key, Value& value,
                                     TickCount timeout = kTimeoutTicksMax) {
    return insert_one(key, value, timeout, IfExisting::kKeep);
  }

  // Removes live entries; no callback is called. An expired entry is not there to be erased.
  template <class Keys>
  size_t erase(const Keys& keys, HitWords erased) {
    return core_.erase(this->batch_of(keys), erased);
  }
  bool erase(const Key& key) { return core_.erase_one(bytes_of_key(&key), hashes()); }

  // Drops every entry, live or expired; all count as erased. Time linear in the capacity.
  void clear() { core_.clear(); }

  // --- Walks. ---

  // Calls visit(const Key&, Value&) for each live entry from the cursor on, until the budget of
  // buckets or that of entries is used up; false when the walk is at its end. A number of buckets
  // is a budget too. The visitor may erase and refresh entries, this one too, but not insert. See
  // cursor.h for what happens to a walk while the table changes. Time linear in the buckets passed.
  template <class Visit>
  bool scan(Cursor& cursor, ScanBudget budget, Visit&& visit) {
    static_assert(!Access::kIsShared, "what others may read is changed by insert() only");
    const uint64_t bucket_end = core_.bucket_end(cursor, budget.buckets);
    SlotRef at{};
    for (; budget.entries > 0 && core_.next_live(cursor, bucket_end, at); --budget.entries) {
      auto& layout = core_.engine().layout();
      const auto key = core_.engine().placement().padded_key(at);
      visit(*reinterpret_cast<const Key*>(static_cast<const std::byte*>(key)),
            *reinterpret_cast<Value*>(layout.value(at)));
    }
    return core_.bucket_of(cursor) < bucket_count();
  }

  // Visits them all, as scan does. Time linear in the capacity.
  template <class Visit>
  void for_each(Visit&& visit) {
    Cursor cursor;
    scan(cursor, bucket_count(), visit);
  }

  // --- Time. ---

  // Moves the table's time to `now`, which must not lie in the past. Constant time; an expired
  // entry simply stops being found. When time has moved past scan_deadline(), entries that
  // expired long ago may be found again (kScanOverdue): call maintain() often enough that this
  // never happens.
  AdvanceOutcome advance(Tick now) { return core_.advance(now); }
  [[nodiscard]] Tick now() const { return core_.engine().now(); }

  // Reclaims the expired entries of the next `bucket_budget` buckets, with a call of the eviction
  // callback for each; returns how many. It goes on where it stopped, and must get through all
  // bucket_count() buckets by scan_deadline().
  uint64_t maintain(uint64_t bucket_budget) { return core_.maintain(bucket_budget); }
  [[nodiscard]] Tick scan_deadline() const { return core_.engine().scan().deadline(); }

  // --- What it is and how it does. ---

  // Bytes of memory to lend (Config::memory) to a table of this configuration.
  [[nodiscard]] static Result<uint64_t> bytes_to_lend(const Config& config) {
    return Core::image_bytes(config, {});
  }
  // What memory_bytes() is of a table of this configuration, before there is one.
  [[nodiscard]] static Result<uint64_t> bytes_for(const Config& config) {
    const Result<uint64_t> image = bytes_to_lend(config);
    return image ? Result<uint64_t>(image.value() + sizeof(FlowTable)) : image;
  }
  // How many entries the table promises to hold; zero if it was created without a promise.
  [[nodiscard]] uint64_t entries_max() const { return core_.entries_max(); }
  // Slots: the configured capacity, rounded up to two whole buckets. The stash does not count.
  [[nodiscard]] uint64_t capacity() const { return core_.engine().stats().capacity; }
  // Buckets, the stash's included.
  [[nodiscard]] uint64_t bucket_count() const { return core_.bucket_count(); }
  // Entries held: live ones, and expired ones not reclaimed yet.
  [[nodiscard]] uint64_t size() const { return core_.engine().stats().size; }
  // Bytes of memory that the table's buckets, entries and fixed parts take.
  [[nodiscard]] uint64_t memory_bytes() const { return core_.image_bytes() + sizeof(*this); }
  // All of it, to be saved: adopt() finds the table again in a copy, and a simulated machine looks
  // keys up in it (docs/decisions/0053). Valid until the table changes.
  [[nodiscard]] std::span<const std::byte> image() const {
    return {core_.arena().data(), core_.image_bytes()};
  }
  // Bytes taken from the system for it: whole pages.
  [[nodiscard]] uint64_t mapped_bytes() const { return core_.arena().bytes(); }
  [[nodiscard]] PageKind page_kind() const { return core_.arena().page_kind(); }
  [[nodiscard]] Isa isa() const { return core_.isa(); }

  // Constant time.
  [[nodiscard]] TableStats stats() const { return core_.stats(); }

  // Where lookups prefetch lines to and how that is chosen; assign another choice to force a hint.
  [[nodiscard]] HintChoice& hint_choice() { return core_.hint_choice(); }

  // How many buckets hold how many entries. Time linear in the capacity.
  [[nodiscard]] Occupancy occupancy() const { return core_.occupancy(); }

  // Checks every invariant; see audit.h. Time linear in the capacity; allocates.
  [[nodiscard]] std::optional<Violation> audit() const { return core_.audit(); }

  // A bucket in words, for debugging; see bucket_dump.h.
  [[nodiscard]] std::string dump(BucketIndex bucket) const { return core_.dump(bucket); }

  // The table of bytes below, for tests that break it by hand; see table_core.h.
  [[nodiscard]] Core& core() { return core_; }
  [[nodiscard]] const Core& core() const { return core_; }

 private:
  using CopyAndRefresh = CopyValueAndRefresh<Value, EngineType>;

  explicit FlowTable(Core core) : core_(std::move(core)) {}

  [[nodiscard]] ComputedHashes<typename Core::Hash, kKeyBytes> hashes() const {
    return {&core_.hash()};
  }

  template <class Keys, class Hashes>
  size_t run_insert(KeyBatch<Keys, Hashes> batch, std::span<Value> values, Timeouts timeouts,
                    std::span<InsertOutcome> outcomes, IfExisting if_existing) {
    ROOST_ASSERT(kIsSet || values.size() >= batch.keys.count);
    return core_.insert(batch, reinterpret_cast<std::byte*>(values.data()), kValueBytes, timeouts,
                        outcomes, if_existing);
  }

  InsertOutcome insert_one(const Key& key, Value& value, TickCount timeout,
                           IfExisting if_existing) {
    return core_.insert_one(bytes_of_key(&key), hashes(), reinterpret_cast<std::byte*>(&value),
                            timeout, if_existing);
  }

  Core core_;
};

}  // namespace roost
