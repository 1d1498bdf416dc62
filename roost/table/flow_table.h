// The flow table: exact match of flow keys, made for batches, with expiry inside (Cuckoo++, ANCS
// 2018).
//
// Idea: see engine.h for the algorithm, tag_line.h and split_layout.h for the bytes, lookup_batch.h
// for how a batch hides memory latency. A hit costs two cache lines, a miss one, nearly always.
//
//   auto table = roost::FlowTable<FlowKey4, Flow>::create({.capacity = 1'000'000}).value();
//   table.insert(key, Flow{...});
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
//   a lookup in flight, from start()         the split phase: start() asks for memory, the lookup
//   answers later
//
// Limits: keys of 16 or 40 bytes without padding, values of 0 to 64 bytes, both trivially copyable
// and aligned to at most 8. A full table refuses (kFull) and stays as it was; from 4,096 slots up
// that does not happen below 95 % load.
//
// Threads: one at a time. Share nothing: give each worker its own table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/hash/random_seed.h"
#include "roost/isa/dispatch.h"
#include "roost/memory/arena.h"
#include "roost/table/audit.h"
#include "roost/table/engine.h"
#include "roost/table/key_source.h"
#include "roost/table/lookup_actions.h"
#include "roost/table/lookup_batch.h"
#include "roost/table/mutate_batch.h"
#include "roost/table/policies.h"
#include "roost/table/table_image.h"

namespace roost {

template <class Key, class Value, class Policies = DefaultPolicies>
class FlowTable {
  static constexpr bool kIsSet = std::is_empty_v<Value>;
  static constexpr size_t kKeyBytes = sizeof(Key);
  static constexpr size_t kValueBytes = kIsSet ? 0 : sizeof(Value);

  static_assert(kKeyBytes == 16 || kKeyBytes == 40, "a key has 16 or 40 bytes; pad it with zeroes");
  static_assert(std::has_unique_object_representations_v<Key>,
                "a key's padding bytes would be compared");
  static_assert(kValueBytes <= 64, "a value has at most 64 bytes; keep larger state elsewhere");
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "entries are moved as bytes");
  static_assert(alignof(Key) <= 8 && alignof(Value) <= 8, "entries are aligned to 8 bytes");

  using Layout = SplitLayout<kKeyBytes, kValueBytes>;
  using Hash = typename Policies::Hash;
  using Sink = typename Policies::Sink;
  using Counts = typename Policies::Counts;

 public:
  using Config = TableConfig;

  // Makes an empty table. `sink` is called with key and value once for each entry that dies by
  // expiry; it must not call this table. Errors: a capacity out of range, memory that is not to be
  // had or too small, a kernel that is not supported here. Writes nothing to fresh memory; clears
  // the lines of lent memory.
  [[nodiscard]] static Result<FlowTable> create(const Config& config, Sink sink = {}) {
    Result<TableImage> image = TableImage::create(config, Layout::kBucketBytes);
    if (!image) return image.error();
    return FlowTable(std::move(image).value(), config, std::move(sink));
  }

  // --- Lookup. ---

  // Copies the values of the keys that are there.
  template <class Keys>
  size_t lookup(const Keys& keys, std::span<Value> out, HitWords hits) const {
    return run_lookup(this, batch_of(keys), CopyTo{out}, hits);
  }
  // Tells only which keys are there.
  template <class Keys>
  size_t lookup(const Keys& keys, HitWords hits) const {
    return run_lookup(this, batch_of(keys), IgnoreValue{}, hits);
  }

  // Points to the values in place; the pointers are valid until the next call that mutates the
  // table.
  template <class Keys>
  size_t find(const Keys& keys, std::span<Value*> out, HitWords hits) {
    return run_lookup(this, batch_of(keys), PointTo{out}, hits);
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
    return run_lookup(this, batch_of(keys), CopyAndRefresh{out, &engine_, timeouts}, hits);
  }
  // Gives an entry that find() has just found a new time to live.
  void refresh(const Value* found, TickCount timeout) {
    engine_.refresh(engine_.layout().slot_of_value(reinterpret_cast<const std::byte*>(found)),
                    timeout);
  }

  // Starts a lookup, to be finished by any of the functions above; the keys stay the caller's until
  // then.
  template <class Keys>
  [[nodiscard]] auto start(const Keys& keys) const {
    const auto batch = batch_of(keys);
    InFlight<decltype(batch.keys), decltype(batch.hashes)> flight{batch.keys, batch.hashes, {}};
    if (hint_ == PrefetchHint::kT1) {
      start_flight<PrefetchHint::kT1>(flight);
    } else {
      start_flight<PrefetchHint::kT0>(flight);
    }
    return flight;
  }
  // Finishes `flight` as lookup does, and starts the lookup of `next_keys` while its last lines
  // arrive; `flight` becomes that one. This overlaps successive bursts best.
  template <class Flight, class Keys>
  size_t lookup_and_start(Flight& flight, std::span<Value> out, HitWords hits,
                          const Keys& next_keys) const {
    const auto batch = batch_of(next_keys);
    Flight next{batch.keys, batch.hashes, {}};
    const size_t hit_count = run_lookup(this, batch_of(flight), CopyTo{out}, hits,
                                        NextBatch<FlowTable, Flight>{this, &next});
    flight = next;
    return hit_count;
  }

  // The hashes that HashedKeys takes. They depend on the table's seed.
  template <class Keys>
  void hash_batch(const Keys& keys, std::span<Hash64> hashes) const {
    const auto batch = batch_of(keys);
    ROOST_ASSERT(hashes.size() >= batch.keys.count);
    for (size_t lane = 0; lane < batch.keys.count; ++lane)
      hashes[lane] = batch.hashes(lane, batch.keys[lane]);
  }

  // --- Mutation. Each form returns the number of lanes that did not meet a full table (or erased
  // an entry). ---

  // Makes entries, or gives existing ones the new value and timeout. Timeouts above
  // kTimeoutTicksMax become it; without expiry they are ignored. A set's `values` are empty.
  template <class Keys>
  size_t insert(const Keys& keys, std::span<const Value> values, std::span<InsertOutcome> outcomes,
                Timeouts timeouts = {}) {
    const std::span<Value> unchanged(const_cast<Value*>(values.data()), values.size());
    return run_insert(batch_of(keys), unchanged, timeouts, outcomes, IfExisting::kOverwrite);
  }
  [[nodiscard]] InsertOutcome insert(const Key& key, const Value& value,
                                     TickCount timeout = kTimeoutTicksMax) {
    InsertOutcome outcome{};
    insert(std::span<const Key>(&key, 1), std::span<const Value>(&value, 1), std::span(&outcome, 1),
           timeout);
    return outcome;
  }

  // Makes the entries that are missing; where a key exists, it stays as it is (its timeout too),
  // and `values` gets what the table holds.
  template <class Keys>
  size_t upsert(const Keys& keys, std::span<Value> values, std::span<InsertOutcome> outcomes,
                Timeouts timeouts = {}) {
    return run_insert(batch_of(keys), values, timeouts, outcomes, IfExisting::kKeep);
  }
  [[nodiscard]] InsertOutcome upsert(const Key& key, Value& value,
                                     TickCount timeout = kTimeoutTicksMax) {
    InsertOutcome outcome{};
    upsert(std::span<const Key>(&key, 1), std::span<Value>(&value, 1), std::span(&outcome, 1),
           timeout);
    return outcome;
  }

  // Removes live entries; they are not handed over. An expired entry is no longer there to be
  // erased.
  template <class Keys>
  size_t erase(const Keys& keys, HitWords erased) {
    const auto batch = batch_of(keys);
    erased.clear(batch.keys.count);
    return run_mutation(batch, EraseLane<EngineT>{&engine_, erased});
  }
  bool erase(const Key& key) {
    HitArray<1> erased;
    return erase(std::span<const Key>(&key, 1), erased) != 0;
  }

  // Drops every entry, live or expired; all count as erased. Time linear in the capacity.
  void clear() { engine_.clear(); }

  // Calls visit(const Key&, Value&) for each live entry, in no order; the visitor must not mutate
  // the table. Time linear in the capacity.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (uint64_t bucket = 0; bucket < engine_.map().bucket_count(); ++bucket) {
      unsigned live =
          engine_.template live_slots<ScalarKernel>(engine_.layout().line(BucketIndex{bucket}));
      for (; live != 0; live &= live - 1) {
        const SlotRef at{BucketIndex{bucket}, static_cast<unsigned>(std::countr_zero(live))};
        visit(*reinterpret_cast<const Key*>(engine_.layout().key(at)),
              *value_of<Value, kKeyBytes>(engine_.layout().key(at)));
      }
    }
  }

  // --- Time. ---

  // Moves the table's time to `now`, which must not lie in the past. Constant time; an expired
  // entry simply stops being found. When time has moved past scan_deadline(), entries that died
  // long ago may be found again (kScanOverdue): call maintain() often enough that this never
  // happens.
  AdvanceOutcome advance(Tick now) { return engine_.advance(now); }
  [[nodiscard]] Tick now() const { return engine_.now(); }

  // Looks at the next `bucket_budget` buckets for expired entries, hands them over and frees their
  // slots; returns how many. Going on where it stopped, it must get through all bucket_count()
  // buckets by scan_deadline().
  uint64_t maintain(uint64_t bucket_budget) {
    return dispatch(isa_, MaintainBatch{&engine_, bucket_budget});
  }
  [[nodiscard]] Tick scan_deadline() const { return engine_.scan().deadline(); }

  // --- What it is and how it does. ---

  // Number of slots: the configured capacity, rounded up to two whole buckets.
  [[nodiscard]] uint64_t capacity() const { return engine_.stats().capacity; }
  [[nodiscard]] uint64_t bucket_count() const { return engine_.map().bucket_count(); }
  // Entries held: live ones, and expired ones that were not handed over yet.
  [[nodiscard]] uint64_t size() const { return engine_.stats().size; }
  // Bytes of memory that the table's buckets, entries and fixed parts take.
  [[nodiscard]] uint64_t memory_bytes() const {
    return bucket_count() * Layout::kBucketBytes + sizeof(*this);
  }
  // Bytes taken from the system for it: whole pages.
  [[nodiscard]] uint64_t mapped_bytes() const { return image_.arena.bytes(); }
  [[nodiscard]] PageKind page_kind() const { return image_.arena.page_kind(); }
  [[nodiscard]] Isa isa() const { return isa_; }

  // Constant time.
  [[nodiscard]] TableStats stats() const {
    TableStats stats = engine_.stats();
    stats.load = static_cast<double>(stats.size) / static_cast<double>(stats.capacity);
    if constexpr (Counts::kEnabled) stats.lookups = counts_;
    return stats;
  }

  // Checks every invariant; see audit.h. Time linear in the capacity; allocates.
  [[nodiscard]] std::optional<Violation> audit() const { return roost::audit(engine_, hash_); }

 private:
  friend struct TableInspector;  // tests break invariants by hand through it
  template <class Table, class Flight>
  friend struct NextBatch;

  using EngineT = Engine<Layout, typename Policies::Expiry, typename Policies::Filter,
                         TypedSink<Key, Value, Sink>>;

  struct MaintainBatch {
    EngineT* engine;
    uint64_t bucket_budget;
    template <Kernel K>
    uint64_t run() {
      return engine->template maintain<K>(bucket_budget);
    }
  };

  using CopyTo = CopyValue<Value, kKeyBytes>;
  using PointTo = PointToValue<Value, kKeyBytes>;
  using CopyAndRefresh = CopyValueAndRefresh<Value, kKeyBytes, EngineT>;

  FlowTable(TableImage image, const Config& config, Sink sink)
      : image_(std::move(image)),
        hash_(config.hash_seed ? *config.hash_seed : random_seed()),
        engine_(Layout(image_.arena.data(), image_.bucket_count), BucketMap(image_.bucket_count),
                TypedSink<Key, Value, Sink>{std::move(sink)}),
        isa_(config.isa.value_or(isa_best())),
        hint_(image_.prefetch_hint) {}

  template <class Keys>
  [[nodiscard]] auto batch_of(const Keys& keys) const {
    return KeyBatchOf<Key, Hash>{&hash_}(keys);
  }

  // Hashes a flight's first lanes and asks for their lines.
  template <PrefetchHint kHint, class Flight>
  void start_flight(Flight& flight) const {
    for (size_t lane = 0; lane < flight.started_count(); ++lane) {
      flight.started[lane] = flight.hashes(lane, flight.keys[lane]);
      prefetch<kHint>(&engine_.layout().line(engine_.map().primary(flight.started[lane])));
    }
  }

  // `self` is this table, const or not.
  template <class Self, class Keys, class Hashes, class Action, class Next = NoNextBatch>
  static size_t run_lookup(Self* self, KeyBatch<Keys, Hashes> batch, Action action, HitWords hits,
                           Next next = {}) {
    if constexpr (requires { action.out; })
      ROOST_ASSERT(kIsSet || action.out.size() >= batch.keys.count);
    using SeenEngine = std::conditional_t<std::is_const_v<Self>, const EngineT, EngineT>;
    return dispatch(self->isa_,
                    LookupBatch<SeenEngine, Keys, Hashes, Action, Next, Counts>{
                        &self->engine_, batch, hits, action, next, self->hint_, &self->counts_});
  }

  template <class Keys, class Hashes>
  size_t run_insert(KeyBatch<Keys, Hashes> batch, std::span<Value> values, Timeouts timeouts,
                    std::span<InsertOutcome> outcomes, IfExisting if_existing) {
    ROOST_ASSERT(kIsSet || values.size() >= batch.keys.count);
    ROOST_ASSERT(outcomes.size() >= batch.keys.count && timeouts.covers(batch.keys.count));
    return run_mutation(batch,
                        InsertLane<EngineT>{&engine_, reinterpret_cast<std::byte*>(values.data()),
                                            sizeof(Value), timeouts, outcomes, if_existing});
  }

  template <class Keys, class Hashes, class Act>
  size_t run_mutation(KeyBatch<Keys, Hashes> batch, Act act) {
    return dispatch(isa_, MutateBatch<EngineT, Keys, Hashes, Act>{&engine_, batch, act});
  }

  TableImage image_;
  Hash hash_;
  EngineT engine_;
  Isa isa_;
  PrefetchHint hint_;
  [[no_unique_address]] mutable Counts counts_;
};

}  // namespace roost
