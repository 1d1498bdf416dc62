// The operations of one padded key size and layout, with or without expiry, over TableCore. A
// source file a class instantiates them, so that they compile side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "capi/key_batch.h"
#include "capi/lane_answer.h"
#include "capi/table.h"
#include "capi/table_class.h"
#include "capi/table_plan.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/concurrent/reader_core.h"
#include "roost/table/entry.h"
#include "roost/table/inline_layout.h"
#include "roost/table/packed_layout.h"
#include "roost/table/policies.h"
#include "roost/table/split_layout.h"
#include "roost/table/table_core.h"

namespace roost::capi {

// Calls the caller's function for an expired entry, if there is one.
struct OnExpiry {
  roost_on_expiry callback;
  void* context;

  void operator()(const std::byte* key, const std::byte* value) const {
    if (callback != nullptr) callback(context, key, value);
  }
};

template <class ExpiryPolicy>
struct SizedPolicies : DefaultPolicies {
  using Expiry = ExpiryPolicy;
  using Probe = LookupCounts;
};

template <size_t kPaddedBytes>
[[nodiscard]] SizedEntry<kPaddedBytes> entry_of(
    const Shape& shape, std::type_identity<SizedEntry<kPaddedBytes>> /*as*/) {
  return SizedEntry<kPaddedBytes>(shape.value_bytes);
}
template <size_t kPaddedBytes>
[[nodiscard]] SizedInlineEntry<kPaddedBytes> entry_of(
    const Shape& shape, std::type_identity<SizedInlineEntry<kPaddedBytes>> /*as*/) {
  return {shape.key_bytes, shape.value_bytes};
}

[[nodiscard]] inline SizedPackedEntry entry_of(const Shape& shape,
                                               std::type_identity<SizedPackedEntry> /*as*/) {
  return {shape.key_bits, shape.value_bytes};
}

[[nodiscard]] inline HitWords hit_words(uint64_t* words, size_t lane_count) {
  return HitWords(std::span(words, hit_word_count(lane_count)));
}

// The lookups of a table, or of one of its readers, whose core is const; `lookups` looks bytes up
// for it.
template <class Core>
class SizedLookups {
 public:
  using Batches = KeyBatches<typename Core::Hash, Core::Layout::kKeyBytes>;
  using Flight = typename Batches::Flight;

  SizedLookups(Core& core, const Shape& shape) : core_(&core), shape_(&shape) {}

  [[nodiscard]] Batches batches() const { return {core_->hash(), shape_->key_bytes}; }

  template <class Lookups>
  size_t lookup(const Lookups& lookups, const roost_keys& keys, const Answer& answer,
                uint64_t* hits, const roost_keys* next, roost_flight* next_flight) const {
    const auto batch = batches().batch(keys);
    using Engine = std::remove_reference_t<decltype(core_->engine())>;
    const LaneAnswer<Engine> act{answer, shape_->value_bytes, &core_->engine()};
    if (next == nullptr)
      return lookups.lookup(batch, act, hit_words(hits, batch.keys.count), MaybeNext<Lookups>{});
    Flight started = batches().flight(*next);
    const size_t hit_count = lookups.lookup(batch, act, hit_words(hits, batch.keys.count),
                                            MaybeNext<Lookups>{&lookups, &started});
    Batches::put(started, *next_flight);
    return hit_count;
  }

  template <class Lookups>
  void start(const Lookups& lookups, const roost_keys& keys, roost_flight& flight) const {
    Flight started = batches().flight(keys);
    lookups.start(started);
    Batches::put(started, flight);
  }

 private:
  // Starts the batch that follows, if one does: a run-time choice, where FlowTable's is a type.
  template <class Lookups>
  struct MaybeNext {
    const Lookups* lookups = nullptr;
    Flight* flight = nullptr;

    void start() {
      if (flight != nullptr) lookups->start(*flight);
    }
  };

  Core* core_;
  const Shape* shape_;
};

template <class Core>
class SizedReader final : public roost_reader {
 public:
  SizedReader(const Core& core, const Shape& shape) : lookups_(core), core_(&core), shape_(shape) {}

  size_t lookup(const roost_keys& keys, const Answer& answer, uint64_t* hits,
                const roost_keys* next, roost_flight* next_flight) override {
    return SizedLookups(*core_, shape_).lookup(lookups_, keys, answer, hits, next, next_flight);
  }
  void start(const roost_keys& keys, roost_flight& flight) const override {
    SizedLookups(*core_, shape_).start(lookups_, keys, flight);
  }

 private:
  ReaderCore<Core> lookups_;
  const Core* core_;
  Shape shape_;
};

template <class Layout, class Expiry>
class SizedTable final : public roost_table {
  using Entry = typename Layout::Entry;
  using Core = TableCore<Layout, SizedPolicies<Expiry>, OnExpiry>;
  using Batches = typename SizedLookups<Core>::Batches;

 public:
  static uint64_t bytes(const TablePlan& plan) {
    return Core::image_bytes(plan.config, entry_of(plan.shape, std::type_identity<Entry>{}))
        .value();
  }

  static CreatedTable create(const TablePlan& plan) { return table_of(plan, Core::create); }
  static CreatedTable adopt(const TablePlan& plan) { return table_of(plan, Core::adopt); }

  size_t lookup(const roost_keys& keys, const Answer& answer, uint64_t* hits,
                const roost_keys* next, roost_flight* next_flight) override {
    // What others may read is changed by insert only.
    ROOST_ASSERT(!Layout::Access::kIsShared || answer.kind != AnswerKind::kPoint);
    return SizedLookups(core_, shape).lookup(core_, keys, answer, hits, next, next_flight);
  }

  void start(const roost_keys& keys, roost_flight& flight) const override {
    SizedLookups(core_, shape).start(core_, keys, flight);
  }

  size_t lanes_of(const roost_flight& flight) const override {
    return Batches::in(flight).keys.count;
  }

  void hash(const roost_keys& keys, uint64_t* hashes) const override {
    const auto batch = batches().batch(keys);
    for (size_t lane = 0; lane < batch.keys.count; ++lane)
      hashes[lane] = batch.hashes(lane, batch.keys[lane]).bits;
  }

  size_t insert(const roost_keys& keys, std::byte* values, Timeouts timeouts, uint8_t* outcomes,
                IfExisting if_existing) override {
    const auto batch = batches().batch(keys);
    const std::span lanes(reinterpret_cast<InsertOutcome*>(outcomes), batch.keys.count);
    return core_.insert(batch, values, shape.value_bytes, timeouts, lanes, if_existing);
  }

  size_t erase(const roost_keys& keys, uint64_t* erased) override {
    const auto batch = batches().batch(keys);
    return core_.erase(batch, hit_words(erased, batch.keys.count));
  }

  void refresh(const std::byte* value, uint32_t timeout) override { core_.refresh(value, timeout); }
  [[nodiscard]] uint32_t ticks_left(const std::byte* value) const override {
    return core_.ticks_left(value);
  }
  void clear() override { core_.clear(); }

  bool scan(Cursor& cursor, std::byte* keys, std::byte* values, ScanBudget budget,
            size_t& count) const override {
    const auto& layout = core_.engine().layout();
    const uint64_t bucket_end = core_.bucket_end(cursor, budget.buckets);
    SlotRef at{};
    for (count = 0; count < budget.entries && core_.next_live(cursor, bucket_end, at); ++count) {
      if (keys != nullptr) {
        const auto key = core_.engine().placement().padded_key(at);
        std::copy_n(static_cast<const std::byte*>(key), shape.key_bytes,
                    keys + count * shape.key_bytes);
      }
      if (values != nullptr)
        std::copy_n(layout.value(at), shape.value_bytes, values + count * shape.value_bytes);
    }
    return core_.bucket_of(cursor) < core_.bucket_count();
  }

  AdvanceOutcome advance(Tick now) override { return core_.advance(now); }
  Tick now() const override { return core_.engine().now(); }
  uint64_t maintain(uint64_t bucket_budget) override { return core_.maintain(bucket_budget); }
  Tick scan_deadline() const override { return core_.engine().scan().deadline(); }

  void describe(roost_info& info) const override {
    info.capacity = core_.engine().stats().capacity;
    info.entries_max = core_.entries_max();
    info.bucket_count = core_.bucket_count();
    info.memory_bytes = core_.image_bytes() + sizeof(*this);
    info.mapped_bytes = core_.arena().bytes();
    info.pages = page_kind_name(core_.arena().page_kind()).data();
    info.kernel = isa_name(core_.isa()).data();
    info.layout = Layout::kName;
    info.bucket_slots = Layout::kSlots;
  }
  TableStats stats() const override { return core_.stats(); }
  Occupancy occupancy() const override { return core_.occupancy(); }
  std::optional<Violation> audit() const override { return core_.audit(); }
  std::span<const std::byte> image() const override {
    return {core_.arena().data(), core_.image_bytes()};
  }
  std::unique_ptr<roost_reader> reader() const override {
    if constexpr (!Layout::Access::kIsShared)
      return nullptr;
    else
      return std::make_unique<SizedReader<Core>>(core_, shape);
  }
  std::string dump(uint64_t bucket) const override {
    if (bucket >= core_.bucket_count()) {
      return "there is no bucket " + std::to_string(bucket) + "; the table has " +
             std::to_string(core_.bucket_count()) + "\n";
    }
    return core_.dump(BucketIndex{bucket});
  }

 private:
  template <class Make>
  static CreatedTable table_of(const TablePlan& plan, Make&& make) {
    Result<Core> core = make(plan.config, entry_of(plan.shape, std::type_identity<Entry>{}),
                             OnExpiry{plan.on_expiry, plan.on_expiry_context});
    if (!core) return core.error();
    return std::unique_ptr<roost_table>(new SizedTable(plan.shape, std::move(core).value()));
  }

  SizedTable(const Shape& table_shape, Core core)
      : roost_table(table_shape), core_(std::move(core)) {}

  Batches batches() const { return {core_.hash(), shape.key_bytes}; }

  Core core_;
};

template <class Layout>
TableClass class_of_layout() {
  using Lasting = SizedTable<Layout, NoExpiry>;
  if constexpr (!TimedLayout<Layout>) {
    return {.bytes = Lasting::bytes, .create = Lasting::create, .adopt = Lasting::adopt};
  } else {
    using Timed = SizedTable<Layout, SlotTimers>;
    return {
        .bytes = Lasting::bytes,
        .create =
            [](const TablePlan& plan) {
              return plan.shape.expires ? Timed::create(plan) : Lasting::create(plan);
            },
        .adopt =
            [](const TablePlan& plan) {
              return plan.shape.expires ? Timed::adopt(plan) : Lasting::adopt(plan);
            },
    };
  }
}

template <size_t kPaddedBytes>
TableClass table_class() {
  return class_of_layout<SplitLayout<SizedEntry<kPaddedBytes>>>();
}

template <size_t kPaddedBytes, unsigned kSlots>
TableClass inline_table_class() {
  return class_of_layout<InlineLayout<SizedInlineEntry<kPaddedBytes>, kSlots>>();
}

}  // namespace roost::capi
