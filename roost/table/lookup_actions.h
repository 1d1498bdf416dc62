// Where bytes become values again: what a lookup does with a lane that hits, and what the
// eviction callback of an expired entry gets. covers(lane_count): whether its spans have an element
// for each lane.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "roost/isa/prefetch.h"
#include "roost/table/mutate_batch.h"
#include "roost/table/words.h"

namespace roost {

// Only the hit bit counts.
struct IgnoreValue {
  void operator()(size_t /*lane*/, const std::byte* /*value*/) const {}
};

template <class Value>
struct CopyValue {
  std::span<Value> out;

  void operator()(size_t lane, const std::byte* value) const {
    if constexpr (!std::is_empty_v<Value>) std::memcpy(&out[lane], value, sizeof(Value));
  }
  void operator()(size_t lane, ValueWords value) const {
    if constexpr (!std::is_empty_v<Value>) value.copy_to(&out[lane], sizeof(Value));
  }
  // A set has nothing to copy.
  [[nodiscard]] bool covers(size_t lane_count) const {
    return std::is_empty_v<Value> || out.size() >= lane_count;
  }
};

// Only tables that are not const hand out pointers.
template <class Value>
struct PointToValue {
  std::span<Value*> out;

  void operator()(size_t lane, const std::byte* value) const {
    out[lane] = reinterpret_cast<Value*>(const_cast<std::byte*>(value));
  }
  [[nodiscard]] bool covers(size_t lane_count) const { return out.size() >= lane_count; }
};

template <class Value, class Engine>
struct CopyValueAndRefresh {
  std::span<Value> out;
  Engine* engine;
  Timeouts timeouts;

  void operator()(size_t lane, const std::byte* value) const {
    CopyValue<Value>{out}(lane, value);
    engine->refresh(engine->layout().slot_of_value(value), timeouts[lane]);
  }
  [[nodiscard]] bool covers(size_t lane_count) const {
    return CopyValue<Value>{out}.covers(lane_count) && timeouts.covers(lane_count);
  }
};

// The same of a table that others read: the lookup itself gives entries their time (LookupBatch).
template <class Value>
struct CopyValueToRefresh {
  std::span<Value> out;
  Timeouts new_timeouts;

  template <class From>
  void operator()(size_t lane, From value) const {
    CopyValue<Value>{out}(lane, value);
  }
  [[nodiscard]] bool covers(size_t lane_count) const {
    return CopyValue<Value>{out}.covers(lane_count) && new_timeouts.covers(lane_count);
  }
};

// Copies values, and sets those of their bits that are a hint: LookupBatch does it.
template <class Value>
struct CopyValueAndSetHint {
  std::span<Value> out;
  uint16_t hint_bits;
  uint16_t hint;

  void operator()(size_t lane, const std::byte* value) const { CopyValue<Value>{out}(lane, value); }
  [[nodiscard]] bool covers(size_t lane_count) const { return out.size() >= lane_count; }
};

// Records that table values are indices of: record i starts at base + i * stride_bytes.
struct RecordArray {
  const void* base;
  size_t stride_bytes;
};

// Copies indices and asks for their records.
template <class Index>
struct CopyIndex {
  std::span<Index> out;
  RecordArray records;

  void operator()(size_t lane, const std::byte* value) const {
    CopyValue<Index>{out}(lane, value);
    prefetch(PrefetchHint::kT1,
             static_cast<const std::byte*>(records.base) + out[lane] * records.stride_bytes);
  }
  [[nodiscard]] bool covers(size_t lane_count) const { return out.size() >= lane_count; }
};

// Calls the user's eviction callback with the key and value of an expired entry.
template <class Key, class Value, class EvictionCallback>
struct TypedEvictionCallback {
  EvictionCallback callback;

  void operator()(const std::byte* key, const std::byte* value) {
    callback(*reinterpret_cast<const Key*>(key), *reinterpret_cast<const Value*>(value));
  }
};

}  // namespace roost
