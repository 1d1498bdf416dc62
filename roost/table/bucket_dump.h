// A bucket in words, for people who debug.
//
//   bucket 5, now 100: 2 of 8 slots busy, 1 moved away, filter 0x4000000000000002
//     slot 0  tag 0x0fc1  primary          expires at 130 (in 30)  key 0a000001...  value 2a00
//     slot 3  tag 0x1234  from bucket 812  expired at 90 (10 ago)  key ...
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/expiry/tick.h"
#include "roost/hash/hash64.h"
#include "roost/table/tag_line.h"

namespace roost {

namespace detail {

// What is said of a busy slot beside what its bucket's line tells.
struct SlotWords {
  unsigned slot;
  std::vector<BucketIndex> others;  // where it comes from, or where it may be displaced to
  bool expires;
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};

[[nodiscard]] std::string dump_line(const TagLine& line, BucketIndex bucket, unsigned slot_count,
                                    Tick now);
[[nodiscard]] std::string dump_slot(const TagLine& line, Tick now, const SlotWords& words);

}  // namespace detail

// Allocates; for debugging.
template <class Engine>
[[nodiscard]] std::string dump_bucket(const Engine& engine, BucketIndex bucket) {
  const auto& layout = engine.layout();
  const TagLine& line = layout.line(bucket);
  std::string text = detail::dump_line(line, bucket, layout.kSlots, engine.now());
  for (unsigned busy = line.busy; busy != 0; busy &= busy - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(busy));
    std::vector<BucketIndex> others;
    if (const BucketIndex primary = engine.placement().primary_of({bucket, slot});
        primary != bucket) {
      others.push_back(primary);
    } else {
      engine.placement().for_each_secondary(bucket, Tag{line.tags[slot]},
                                            [&](BucketIndex other) { others.push_back(other); });
    }
    text +=
        detail::dump_slot(line, engine.now(),
                          {.slot = slot,
                           .others = std::move(others),
                           .expires = Engine::kExpires,
                           .key = {layout.key({bucket, slot}), layout.kKeyBytes},
                           .value = {layout.value({bucket, slot}), layout.entry().value_bytes()}});
  }
  return text;
}

}  // namespace roost
