// A bucket in words, for debugging.
//
//   bucket 5, now 100: 2 of 8 slots busy, 1 moved away, filter 0x4000000000000002
//     slot 0  tag 0x0fc1  primary          expires at 130 (in 30)  key 0a000001...  value 2a00
//     slot 3  tag 0x1234  from bucket 812  expired at 90 (10 ago)  key ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "roost/expiry/tick.h"
#include "roost/hash/hash64.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"

namespace roost {

namespace detail {

// What is said of a bucket.
struct LineWords {
  BucketIndex bucket;
  unsigned busy_count;
  unsigned slot_count;
  bool has_filter = false;  // and what follows
  unsigned moved = 0;
  bool is_saturated = false;
  uint64_t filter = 0;
};

// What is said of a busy slot.
struct SlotWords {
  unsigned slot;
  Tag tag;
  int tag_digits;
  bool is_displaced;
  std::vector<BucketIndex> others;  // where it comes from, or where it may be displaced to
  bool expires;
  uint16_t timer;
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};

[[nodiscard]] std::string dump_line(Tick now, const LineWords& words);
[[nodiscard]] std::string dump_slot(Tick now, const SlotWords& words);

}  // namespace detail

// Allocates; for debugging.
template <class Engine>
[[nodiscard]] std::string dump_bucket(const Engine& engine, BucketIndex bucket) {
  const auto& layout = engine.layout();
  const auto& line = layout.line(bucket);
  detail::LineWords words{
      .bucket = bucket, .busy_count = busy_slots(line).count(), .slot_count = layout.kSlots};
  if constexpr (KeepsFilter<std::remove_cvref_t<decltype(line)>>) {
    words.has_filter = true;
    words.moved = line.moved;
    words.is_saturated = line.moved == line.kMovedSaturated;
    words.filter = line.filter;
  }
  std::string text = detail::dump_line(engine.now(), words);
  for (const unsigned slot : busy_slots(line)) {
    const SlotRef at{bucket, slot};
    const auto [primary, tag] = engine.placement().origin_of(at);
    std::vector<BucketIndex> others;
    if (primary != bucket) {
      others.push_back(primary);
    } else {
      engine.placement().for_each_secondary(bucket, tag,
                                            [&](BucketIndex other) { others.push_back(other); });
    }
    const auto key = engine.placement().padded_key(at);
    text += detail::dump_slot(engine.now(),
                              {.slot = at.slot,
                               .tag = tag,
                               .tag_digits = (layout.kTagBits + 3) / 4,
                               .is_displaced = primary != bucket,
                               .others = std::move(others),
                               .expires = Engine::kExpires,
                               .timer = engine.placement().timer(at),
                               .key = {static_cast<const std::byte*>(key), layout.kKeyBytes},
                               .value = {layout.value(at), layout.entry().value_bytes()}});
  }
  return text;
}

}  // namespace roost
