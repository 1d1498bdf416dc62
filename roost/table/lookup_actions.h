// Where bytes become values again: what a lookup does with a lane that hits, and what a dying
// entry's sink gets.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "roost/isa/prefetch.h"
#include "roost/table/mutate_batch.h"

namespace roost {

// The value of the entry that starts at `entry`.
template <class Value, size_t kKeyBytes>
[[nodiscard]] Value* value_of(std::byte* entry) {
  return reinterpret_cast<Value*>(entry + kKeyBytes);
}

// Only the hit bit counts.
struct IgnoreValue {
  void operator()(size_t /*lane*/, const std::byte* /*entry*/) const {}
};

template <class Value, size_t kKeyBytes>
struct CopyValue {
  std::span<Value> out;

  void operator()(size_t lane, const std::byte* entry) const {
    if constexpr (!std::is_empty_v<Value>)
      std::memcpy(&out[lane], entry + kKeyBytes, sizeof(Value));
  }
};

// Only tables that are not const hand out pointers.
template <class Value, size_t kKeyBytes>
struct PointToValue {
  std::span<Value*> out;

  void operator()(size_t lane, const std::byte* entry) const {
    out[lane] = value_of<Value, kKeyBytes>(const_cast<std::byte*>(entry));
  }
};

template <class Value, size_t kKeyBytes, class Engine>
struct CopyValueAndRefresh {
  std::span<Value> out;
  Engine* engine;
  Timeouts timeouts;

  void operator()(size_t lane, const std::byte* entry) const {
    CopyValue<Value, kKeyBytes>{out}(lane, entry);
    engine->refresh(engine->layout().slot_of_value(entry + kKeyBytes), timeouts[lane]);
  }
};

// Records that table values are indices of: record i starts at base + i * stride_bytes.
struct RecordArray {
  const void* base;
  size_t stride_bytes;
};

// Copies indices and asks for their records.
template <class Index, size_t kKeyBytes>
struct CopyIndex {
  std::span<Index> out;
  RecordArray records;

  void operator()(size_t lane, const std::byte* entry) const {
    CopyValue<Index, kKeyBytes>{out}(lane, entry);
    prefetch<PrefetchHint::kT1>(static_cast<const std::byte*>(records.base) +
                                out[lane] * records.stride_bytes);
  }
};

// Calls the user's sink with the key and value of a dying entry.
template <class Key, class Value, class Sink>
struct TypedSink {
  Sink sink;

  void operator()(const std::byte* key, const std::byte* value) {
    sink(*reinterpret_cast<const Key*>(key), *reinterpret_cast<const Value*>(value));
  }
};

}  // namespace roost
