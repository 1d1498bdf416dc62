// A table of bytes: the engine, its memory, its hash, and the choice of kernel and prefetch hint.
//
// Keys and values have no type here, only sizes, so that one compiled table a padded key size
// serves them all. FlowTable is its typed face for C++, roost.h (capi) the one for C; both
// only say what their batches look like. FlowTable says what every function means.
//
// Threads: one at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/isa/dispatch.h"
#include "roost/memory/arena.h"
#include "roost/table/audit.h"
#include "roost/table/bucket_dump.h"
#include "roost/table/cursor.h"
#include "roost/table/engine.h"
#include "roost/table/hint_choice.h"
#include "roost/table/key_source.h"
#include "roost/table/layout.h"
#include "roost/table/layout_choice.h"
#include "roost/table/lookup_batch.h"
#include "roost/table/mutate_batch.h"
#include "roost/table/mutate_one.h"
#include "roost/table/policies.h"
#include "roost/table/slot_mask.h"
#include "roost/table/table_image.h"

namespace roost {

// What an image calls a hash; hashes of users need no name.
template <class Hash>
[[nodiscard]] constexpr std::string_view hash_name() {
  if constexpr (requires { Hash::kName; }) {
    return Hash::kName;
  } else {
    return "another hash";
  }
}

// What a thread that looks keys up keeps beside the table.
template <class Probe>
struct LookupState {
  HintChoice hints;
  [[no_unique_address]] Probe probe;
};

// `EvictionCallback` takes the key and value bytes of an expired entry.
template <TableLayout LayoutT, class Policies, class EvictionCallback>
class TableCore {
 public:
  using Layout = LayoutT;
  using Entry = typename Layout::Entry;
  using Hash = HashOf<Layout, Policies>;
  using Probe = typename Policies::Probe;
  using Probing = ProbingOf<Layout, Policies>;
  using EngineType = Engine<Layout, typename Policies::Expiry, Probing, Hash, EvictionCallback>;
  static constexpr BucketShape kShape = {Layout::kSlots,
                                         Probing::kPromises ? Layout::kPromisedLoad : 0};

  [[nodiscard]] static Result<TableCore> create(const TableConfig& config, Entry entry,
                                                EvictionCallback eviction_callback) {
    Result<TableImage> image =
        TableImage::create(config, shape_for(entry), entry_shape(entry),
                           [&](BucketCounts counts) { return Layout::image_bytes(counts, entry); });
    if (!image) return image.error();
    return TableCore(std::move(image).value(), config, entry, std::move(eviction_callback));
  }

  // Finds the table in memory that was lent to one; see FlowTable::adopt.
  [[nodiscard]] static Result<TableCore> adopt(const TableConfig& config, Entry entry,
                                               EvictionCallback eviction_callback) {
    Result<TableImage> image =
        TableImage::adopt(config, shape_for(entry), entry_shape(entry),
                          [&](BucketCounts counts) { return Layout::image_bytes(counts, entry); });
    if (!image) return image.error();
    return TableCore(std::move(image).value(), config, entry, std::move(eviction_callback));
  }

  // Bytes of memory to lend to a table of this configuration.
  [[nodiscard]] static Result<uint64_t> image_bytes(const TableConfig& config, Entry entry) {
    const Result<BucketCounts> counts = bucket_counts(config, shape_for(entry));
    if (!counts) return counts.error();
    return sizeof(ImageHeader) + Layout::image_bytes(counts.value(), entry);
  }

  // Calls action(lane, value) for each lane that hits; see LookupBatch.
  template <class Keys, class Hashes, class Action, class Next = NoNextBatch>
  size_t lookup(KeyBatch<Keys, Hashes> batch, Action action, HitWords hits, Next next = {}) const {
    return lookup(own_, batch, action, hits, next);
  }
  template <class Keys, class Hashes, class Action, class Next>
  size_t lookup(LookupState<Probe>& state, KeyBatch<Keys, Hashes> batch, Action action,
                HitWords hits, Next next) const {
    return state.hints.watch(batch.keys.count, [&](PrefetchHint hint) {
      return dispatch(isa_, LookupBatch<EngineType, Keys, Hashes, Action, Next, Probe>{
                                &engine_, batch, hits, action, next, hint, &state.probe});
    });
  }

  // Hashes a flight's first lanes and asks for their lines.
  template <class Flight>
  void start(Flight& flight) const {
    start(own_, flight);
  }
  template <class Flight>
  void start(const LookupState<Probe>& state, Flight& flight) const {
    const PrefetchHint hint = state.hints.hint(flight.keys.count);
    for (size_t lane = 0; lane < flight.started_count(); ++lane) {
      flight.started[lane] = flight.hashes(lane, flight.keys[lane]);
      engine_.placement().prefetch_lines(hint, flight.started[lane]);
    }
  }

  // Asks for the line of one key ahead of a lookup of many; returns its hash.
  Hash64 prefetch(Hash64 hash) const {
    engine_.placement().prefetch_lines(own_.hints.hint(HintChoice::kLanesMin), hash);
    return hash;
  }

  // What follows a batch when it finishes `flight`'s predecessor and starts `flight`.
  template <class Flight>
  [[nodiscard]] NextBatch<TableCore, Flight> next(Flight* flight) const {
    return {this, flight};
  }

  // `values` are `value_stride` bytes apart.
  template <class Keys, class Hashes>
  size_t insert(KeyBatch<Keys, Hashes> batch, std::byte* values, size_t value_stride,
                Timeouts timeouts, std::span<InsertOutcome> outcomes, IfExisting if_existing) {
    ROOST_ASSERT(outcomes.size() >= batch.keys.count && timeouts.covers(batch.keys.count));
    if (batch.keys.count == 1) {
      outcomes[0] = insert_one(batch.keys[0], batch.hashes, values, timeouts[0], if_existing);
      return is_refusal(outcomes[0]) ? 0 : 1;
    }
    return mutate(batch, InsertLane<EngineType>{&engine_, values, value_stride, timeouts, outcomes,
                                                if_existing});
  }

  // One key; see InsertOne.
  template <class Key, class Hashes>
  InsertOutcome insert_one(const Key& key, Hashes hashes, std::byte* value, TickCount timeout,
                           IfExisting if_existing) {
    return dispatch(isa_, InsertOne<EngineType, Key, Hashes>{&engine_, key, hashes, value, timeout,
                                                             if_existing});
  }

  template <class Keys, class Hashes>
  size_t erase(KeyBatch<Keys, Hashes> batch, HitWords erased) {
    erased.clear(batch.keys.count);
    if (batch.keys.count == 1) {
      if (!erase_one(batch.keys[0], batch.hashes)) return 0;
      erased.set(0);
      return 1;
    }
    return mutate(batch, EraseLane<EngineType>{&engine_, erased});
  }

  template <class Key, class Hashes>
  bool erase_one(const Key& key, Hashes hashes) {
    return dispatch(isa_, EraseOne<EngineType, Key, Hashes>{&engine_, key, hashes});
  }

  // An engine over the same buckets that keeps its own accounts, in `state`: for a thread that
  // fills some of the buckets of an empty table (bulk_load.h). `add` takes them over.
  [[nodiscard]] EngineType part(TableState& state) const {
    state.now = engine_.now();
    return EngineType(engine_.layout(), engine_.map(), hash(), state,
                      typename Layout::Access(AccessShape{engine_.map().bucket_count(), 1}), {});
  }
  void add(const TableState& part) {
    engine_.stats().size += part.stats.size;
    engine_.stats().created += part.stats.created;
    engine_.stats().path_lengths[0] += part.stats.path_lengths[0];
  }
  // With the engine of a part; see InsertAtHome.
  template <class Key>
  [[nodiscard]] bool insert_at_home(EngineType& part, const Key& key, Hash64 hash,
                                    const std::byte* value, TickCount timeout) const {
    return dispatch(isa_, InsertAtHome<EngineType, Key>{&part, key, hash, value, timeout});
  }

  // Gives the entry whose value stands at `value` a new time to live.
  void refresh(const std::byte* value, TickCount timeout) {
    engine_.refresh(engine_.layout().slot_of_value(value), timeout);
  }

  // Ticks that the live entry whose value stands at `value` has left.
  [[nodiscard]] TickCount ticks_left(const std::byte* value) const {
    return engine_.ticks_left(engine_.layout().slot_of_value(value));
  }

  void clear() { engine_.clear(); }

  // The bucket that a walk goes on in, and where it stops after so many.
  [[nodiscard]] uint64_t bucket_of(const Cursor& cursor) const {
    return cursor.next_slot / Layout::kSlots;
  }
  [[nodiscard]] uint64_t bucket_end(const Cursor& cursor, uint64_t bucket_budget) const {
    const uint64_t first = std::min(bucket_of(cursor), bucket_count());
    return first + std::min(bucket_budget, bucket_count() - first);
  }

  // Finds the next live entry from the cursor on, in the buckets before `bucket_end`, and puts the
  // cursor behind it; false when there is none left there.
  bool next_live(Cursor& cursor, uint64_t bucket_end, SlotRef& at) const {
    while (cursor.next_slot / Layout::kSlots < bucket_end) {
      const BucketIndex bucket{cursor.next_slot / Layout::kSlots};
      const auto slot = static_cast<unsigned>(cursor.next_slot % Layout::kSlots);
      const SlotMask live =
          engine_.template live_slots<ScalarKernel>(engine_.layout().line(bucket)).from(slot);
      if (!live.empty()) {
        at = {bucket, live.lowest()};
        cursor.next_slot = static_cast<uint64_t>(bucket) * Layout::kSlots + at.slot + 1;
        return true;
      }
      cursor.next_slot = (static_cast<uint64_t>(bucket) + 1) * Layout::kSlots;
    }
    return false;
  }

  AdvanceOutcome advance(Tick now) { return engine_.advance(now); }
  uint64_t maintain(uint64_t bucket_budget) {
    return dispatch(isa_, MaintainBatch{&engine_, bucket_budget});
  }

  [[nodiscard]] EngineType& engine() { return engine_; }
  [[nodiscard]] const EngineType& engine() const { return engine_; }
  [[nodiscard]] const Hash& hash() const { return engine_.placement().hash(); }
  [[nodiscard]] HintChoice& hint_choice() { return own_.hints; }
  [[nodiscard]] Probe& probe() { return own_.probe; }
  // As this table's own was to begin with.
  [[nodiscard]] LookupState<Probe> new_lookup_state() const {
    return {HintChoice(image_.first_hint, forced_hint_), {}};
  }
  [[nodiscard]] const Arena& arena() const { return image_.arena; }
  [[nodiscard]] Isa isa() const { return isa_; }
  [[nodiscard]] uint64_t bucket_count() const { return engine_.placement().bucket_count(); }
  [[nodiscard]] uint64_t entries_max() const { return image_.header().identity.entries_max; }
  // Bytes that header, buckets and entries take.
  [[nodiscard]] uint64_t image_bytes() const { return image_.header().identity.image_bytes; }

  [[nodiscard]] TableStats stats() const {
    TableStats stats = engine_.stats();
    stats.load = static_cast<double>(stats.size) / static_cast<double>(stats.capacity);
    stats.line_hint = own_.hints.chosen();
    stats.hint_rounds = own_.hints.round_count();
    if constexpr (std::same_as<Probe, LookupCounts>) stats.lookups = own_.probe;
    return stats;
  }

  [[nodiscard]] Occupancy occupancy() const {
    Occupancy buckets{};
    for (uint64_t bucket = 0; bucket < bucket_count(); ++bucket)
      ++buckets[busy_slots(engine_.layout().line(BucketIndex{bucket})).count()];
    return buckets;
  }
  [[nodiscard]] std::optional<Violation> audit() const { return roost::audit(engine_); }
  [[nodiscard]] std::string dump(BucketIndex bucket) const { return dump_bucket(engine_, bucket); }

 private:
  struct MaintainBatch {
    EngineType* engine;
    uint64_t bucket_budget;
    template <Kernel K>
    uint64_t run() {
      return engine->template maintain<K>(bucket_budget);
    }
  };

  [[nodiscard]] static EntryShape entry_shape(Entry entry) {
    return {.layout = Layout::kName,
            .probing = Probing::kName,
            .hash = hash_name<Hash>(),
            .key_bits = Layout::key_bits(entry),
            .value_bytes = entry.value_bytes(),
            .expires = EngineType::kExpires};
  }

  // What a configuration is checked by: of these entries, a table may need more than two buckets.
  [[nodiscard]] static BucketShape shape_for(Entry entry) {
    BucketShape shape = kShape;
    if constexpr (requires { Layout::buckets_min(entry); })
      shape.buckets_min = Layout::buckets_min(entry);
    return shape;
  }

  [[nodiscard]] static Hash hash_of(uint64_t seed, Entry entry) {
    if constexpr (std::constructible_from<Hash, uint64_t, unsigned>) {
      return Hash(seed, Layout::key_bits(entry));
    } else {
      return Hash(seed);
    }
  }

  TableCore(TableImage image, const TableConfig& config, Entry entry,
            EvictionCallback eviction_callback)
      : image_(std::move(image)),
        engine_(Layout(image_.buckets(), image_.header().identity.buckets, entry),
                BucketMap(image_.header().identity.buckets.hashed),
                hash_of(image_.header().identity.hash_seed, entry), image_.header().state,
                typename Layout::Access(
                    AccessShape{image_.header().identity.buckets.hashed, config.version_counters}),
                std::move(eviction_callback)),
        isa_(config.isa.value_or(isa_best())),
        forced_hint_(config.line_hint),
        own_(new_lookup_state()) {}

  template <class Keys, class Hashes, class Act>
  size_t mutate(KeyBatch<Keys, Hashes> batch, Act act) {
    return dispatch(isa_, MutateBatch<EngineType, Keys, Hashes, Act>{&engine_, batch, act,
                                                                     own_.hints.for_changes()});
  }

  TableImage image_;
  EngineType engine_;
  Isa isa_;
  std::optional<PrefetchHint> forced_hint_;
  mutable LookupState<Probe> own_;  // of lookups by the table's only or writing thread
};

}  // namespace roost
