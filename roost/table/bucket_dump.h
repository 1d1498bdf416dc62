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

#include "roost/expiry/tick.h"
#include "roost/hash/hash64.h"
#include "roost/table/tag_line.h"

namespace roost {

namespace detail {

// What is said of a busy slot beside what its bucket's line tells.
struct SlotWords {
  unsigned slot;
  BucketIndex other;  // its other bucket
  bool expires;
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};

[[nodiscard]] std::string dump_line(const TagLine& line, BucketIndex bucket, Tick now);
[[nodiscard]] std::string dump_slot(const TagLine& line, Tick now, const SlotWords& words);

}  // namespace detail

// Allocates; for debugging.
template <class Engine>
[[nodiscard]] std::string dump_bucket(const Engine& engine, BucketIndex bucket) {
  const auto& layout = engine.layout();
  const TagLine& line = layout.line(bucket);
  std::string text = detail::dump_line(line, bucket, engine.now());
  for (unsigned busy = line.busy; busy != 0; busy &= busy - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(busy));
    text += detail::dump_slot(
        line, engine.now(),
        {.slot = slot,
         .other = engine.placement().other_bucket({bucket, slot}, Tag{line.tags[slot]}),
         .expires = Engine::kExpires,
         .key = {layout.key({bucket, slot}), layout.kKeyBytes},
         .value = {layout.value({bucket, slot}), layout.entry().value_bytes()}});
  }
  return text;
}

}  // namespace roost
