// Insert, upsert and erase of a batch: lines are prefetched a group ahead, then the lanes act one
// after the other, so that duplicate keys within a batch behave as they would in single calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/hit_words.h"
#include "roost/expiry/slot_timers.h"
#include "roost/isa/kernel.h"
#include "roost/isa/prefetch.h"
#include "roost/table/engine.h"
#include "roost/table/key_source.h"
#include "roost/table/lookup_batch.h"

namespace roost {

// How long the entries of a batch are to live: one timeout for all lanes, or one a lane.
class Timeouts {
 public:
  constexpr Timeouts(TickCount all = kTimeoutTicksMax) : all_(all) {}
  constexpr Timeouts(std::span<const TickCount> each) : each_(each) {}

  [[nodiscard]] constexpr TickCount operator[](size_t lane) const {
    return each_.empty() ? all_ : each_[lane];
  }
  [[nodiscard]] constexpr bool covers(size_t lane_count) const {
    return each_.empty() || each_.size() >= lane_count;
  }

 private:
  std::span<const TickCount> each_;
  TickCount all_ = kTimeoutTicksMax;
};

// `act.run<K>(lane, key bytes, hash)` does the work of one lane.
template <class Engine, class Keys, class Hashes, class Act>
struct MutateBatch {
  Engine* engine;
  KeyBatch<Keys, Hashes> batch;
  Act act;

  template <Kernel K>
  size_t run() {
    std::array<Hash64, kLanesPerGroup> group;
    size_t done = 0;
    for (size_t first = 0; first < batch.keys.count; first += kLanesPerGroup) {
      const size_t lane_count = std::min(kLanesPerGroup, batch.keys.count - first);
      for (size_t lane = 0; lane < lane_count; ++lane) {
        group[lane] = batch.hashes(first + lane, batch.keys[first + lane]);
        engine->placement().template prefetch_lines<PrefetchHint::kT0>(group[lane]);
      }
      for (size_t lane = 0; lane < lane_count; ++lane) {
        if (act.template run<K>(first + lane, batch.keys[first + lane], group[lane])) ++done;
      }
    }
    return done;
  }
};

// One lane of insert or upsert; true unless the table is full. `values` may point to const values
// when existing keys are overwritten: only kKeep writes to them.
template <class Engine>
struct InsertLane {
  Engine* engine;
  std::byte* values;
  size_t value_stride;
  Timeouts timeouts;
  std::span<InsertOutcome> outcomes;
  IfExisting if_existing;

  template <Kernel K>
  bool run(size_t lane, const std::byte* key, Hash64 hash) {
    const InsertOutcome outcome = engine->template insert<K>(
        key, hash, values + lane * value_stride, timeouts[lane], if_existing);
    outcomes[lane] = outcome;
    return outcome != InsertOutcome::kFull;
  }
};

// One lane of erase; true when there was an entry.
template <class Engine>
struct EraseLane {
  Engine* engine;
  HitWords erased;

  template <Kernel K>
  bool run(size_t lane, const std::byte* key, Hash64 hash) {
    const bool was_there = engine->template erase<K>(key, hash);
    if (was_there) erased.set(lane);
    return was_there;
  }
};

}  // namespace roost
