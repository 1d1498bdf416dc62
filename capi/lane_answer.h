// What the C interface's lookups do with a lane that hits: one action for all of them, by its
// fields, so that a padded key size has one lookup loop a kernel and hint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capi/table.h"
#include "roost/base/assert.h"
#include "roost/isa/prefetch.h"
#include "roost/table/shared_search.h"

namespace roost::capi {

// Copies a value whose size only the table knows; the usual ones without a call.
inline void copy_value(std::byte* to, const std::byte* from, size_t value_bytes) {
  switch (value_bytes) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, value_bytes);
  }
}

// The index that a value of 4 or 8 bytes is.
inline uint64_t index_in(const std::byte* value, size_t value_bytes) {
  uint64_t index = 0;
  if (value_bytes == sizeof(index)) {
    std::memcpy(&index, value, sizeof(index));
    return index;
  }
  uint32_t short_index = 0;
  std::memcpy(&short_index, value, sizeof(short_index));
  return short_index;
}

// Packed values have up to two bytes, and may be copies of no more.
inline void copy_packed_value(std::byte* to, const std::byte* from, size_t value_bytes) {
  if (value_bytes == 2) {
    std::memcpy(to, from, 2);
  } else if (value_bytes == 1) {
    *to = *from;
  }
}

template <class Engine>
struct LaneAnswer {
  static constexpr bool kIsPacked = HasWordEntries<typename Engine::Layout>;

  Answer answer;
  size_t value_bytes;
  Engine* engine;

  void operator()(size_t lane, const std::byte* value) const {
    if (answer.kind == AnswerKind::kHitOnly) return;
    if (answer.kind == AnswerKind::kPoint) {
      static_cast<void**>(answer.out)[lane] = const_cast<std::byte*>(value);
      return;
    }
    if (answer.out != nullptr)
      copy(static_cast<std::byte*>(answer.out) + lane * value_bytes, value);
    if constexpr (!kIsPacked) go_on(lane, value);
  }

 private:
  void copy(std::byte* to, const std::byte* from) const {
    if constexpr (kIsPacked)
      copy_packed_value(to, from, value_bytes);
    else
      copy_value(to, from, value_bytes);
  }

  // What packed tables have no use for: their entries do not expire, nor are their values indices.
  void go_on(size_t lane, const std::byte* value) const {
    if (answer.kind == AnswerKind::kCopyAndRefresh) {
      engine->refresh(engine->layout().slot_of_value(value), answer.timeouts[lane]);
    } else if (answer.kind == AnswerKind::kCopyAndPrefetch) {
      prefetch(PrefetchHint::kT1, static_cast<const std::byte*>(answer.records.base) +
                                      index_in(value, value_bytes) * answer.records.stride);
    }
  }
};

}  // namespace roost::capi
