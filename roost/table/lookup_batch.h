// The lookup of a batch: many keys at once, so that their cache misses overlap (CPP-06, CPP-07).
//
// Idea: lanes go through in groups, each group in four stages, and every stage touches only lines
// that the stage before it asked for.
//
//     start      hash the key, prefetch its primary bucket's line
//     match      compare tags; prefetch the entry of the first candidate, or the secondary bucket's
//                line if the filter lets the lookup go on, or nothing
//     secondary  the same in the secondary bucket's line
//     finish     compare keys and answer
//
// Pessimistic probing prefetches both lines in `start`, matches both in `match`, and has no
// secondary stage.
//
// The groups of a call follow each other a stage apart: while one waits for its lines, the three
// after it have the processor. A split-phase lookup that names the next batch goes on so across
// calls.
//
// Which line to prefetch in `match` is selected without a branch, since hit or miss is what the
// processor cannot predict. The rare lanes whose first candidate was not the key, or whose key may
// sit in a spare bucket, are searched one by one in the end.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/isa/kernel.h"
#include "roost/isa/prefetch.h"
#include "roost/table/key_source.h"
#include "roost/table/layout.h"
#include "roost/table/policies.h"

namespace roost {

inline constexpr size_t kLanesPerGroup = 32;

// What a group carries from stage to stage.
struct LaneGroup {
  size_t lane_count;
  const Hash64* hashes;  // computed here, or by the start of the split phase
  std::array<Hash64, kLanesPerGroup> computed;
  std::array<const std::byte*, kLanesPerGroup> targets;  // candidate entry, or secondary line
  uint32_t primary;    // lanes with a candidate in their primary bucket
  uint32_t secondary;  // lanes whose secondary bucket must be looked at
  uint32_t displaced;  // of those, lanes with a candidate there only
  uint32_t spared;     // of those, lanes without, whose key may sit in a spare bucket
};

// Nothing follows this batch.
struct NoNextBatch {
  template <PrefetchHint kHint>
  void start() {}
};

// The batch after this one, started while this one's last lines arrive.
template <class Table, class Flight>
struct NextBatch {
  const Table* table;
  Flight* flight;

  template <PrefetchHint kHint>
  void start() {
    table->template start_by<kHint>(*flight);
  }
};

// `action(lane, value address in the table)` is called once for each lane that hits, in no
// particular order.
template <class Engine, class Keys, class Hashes, class Action, class Next, class Counts>
struct LookupBatch {
  const Engine* engine;
  KeyBatch<Keys, Hashes> batch;
  HitWords hits;
  Action action;
  Next next;
  PrefetchHint hint;
  Counts* counts;

  // Returns the number of hits. The stages are inlined by command: Clang's flatten reaches one
  // level of calls only.
  template <Kernel K>
  size_t run() {
    return hint == PrefetchHint::kT1 ? run_groups<K, PrefetchHint::kT1>()
                                     : run_groups<K, PrefetchHint::kT0>();
  }

 private:
  using Layout = typename Engine::Layout;
  using Line = typename Engine::Line;
  static constexpr bool kVisitsBoth = Engine::Probing::kVisitsBoth;
  static constexpr size_t kStages = kVisitsBoth ? 3 : 4;
  static constexpr size_t kLast = kStages - 1;

  template <Kernel K, PrefetchHint kHint>
  [[gnu::always_inline]] size_t run_groups() {
    ROOST_ASSERT(hits.hold(batch.keys.count));
    if constexpr (Counts::kEnabled) {
      counts->lookups += batch.keys.count;
      counts->last_kernel = K::kIsa;
    }
    const size_t group_count = (batch.keys.count + kLanesPerGroup - 1) / kLanesPerGroup;
    std::array<LaneGroup, kStages> groups;
    const auto group = [&groups](size_t number) -> LaneGroup& { return groups[number % kStages]; };
    size_t hit_count = 0;
    for (size_t turn = 0; turn < group_count + kLast; ++turn) {
      if (turn >= 1 && turn - 1 < group_count)
        match<K, kHint>(group(turn - 1), (turn - 1) * kLanesPerGroup);
      if (turn < group_count) start<kHint>(group(turn), turn * kLanesPerGroup);
      if (turn == group_count) next.template start<kHint>();
      if (!kVisitsBoth && turn >= 2 && turn - 2 < group_count)
        match_secondary<K, kHint>(group(turn - 2), (turn - 2) * kLanesPerGroup);
      if (turn >= kLast)
        hit_count += finish<K>(group(turn - kLast), (turn - kLast) * kLanesPerGroup);
    }
    if constexpr (Counts::kEnabled) counts->hits += hit_count;
    return hit_count;
  }

  template <PrefetchHint kHint>
  [[gnu::always_inline]] void start(LaneGroup& group, size_t first) {
    group.lane_count = std::min(kLanesPerGroup, batch.keys.count - first);
    if (first < batch.started_count) {
      group.hashes = batch.started + first;
      return;
    }
    group.hashes = group.computed.data();
    for (size_t lane = 0; lane < group.lane_count; ++lane) {
      group.computed[lane] = batch.hashes(first + lane, batch.keys[first + lane]);
      engine->placement().template prefetch_lines<kHint>(group.computed[lane]);
    }
  }

  template <Kernel K, PrefetchHint kHint>
  [[gnu::always_inline]] void match(LaneGroup& group, size_t first) {
    if constexpr (kVisitsBoth) return match_both<K, kHint>(group, first);
    uint32_t primary = 0;
    uint32_t secondary = 0;
    const size_t lane_count = group.lane_count;
    for (size_t lane = 0; lane < lane_count; ++lane) {
      const Tag tag = tag_of(group.hashes[lane]);
      const BucketIndex bucket = engine->map().primary(group.hashes[lane]);
      const Line& line = engine->layout().line(bucket);
      const unsigned candidates =
          engine->template candidates<K>(line, tag, batch.keys[first + lane]);
      const auto is_candidate = static_cast<unsigned>(candidates != 0);
      const auto goes_on =
          static_cast<unsigned>(engine->placement().may_be_displaced(line, tag)) & ~is_candidate;
      const auto slot = static_cast<unsigned>(std::countr_zero(candidates | 0x80U));
      const std::byte* entry = engine->layout().target({bucket, slot});
      const std::byte* other =
          address_of(engine->layout().line(engine->placement().secondary(bucket, line, tag)));
      const std::byte* target =
          select(is_candidate, entry, select(goes_on, other, address_of(line)));
      prefetch<kHint>(target);
      engine->layout().for_each_further_line([&](size_t offset) __attribute__((always_inline)) {
        prefetch<kHint>(select(is_candidate, entry + offset, target));
      });
      group.targets[lane] = target;
      primary |= is_candidate << lane;
      secondary |= goes_on << lane;
    }
    group.primary = primary;
    group.secondary = secondary;
  }

  // Looks at both lines of each lane at once.
  template <Kernel K, PrefetchHint kHint>
  [[gnu::always_inline]] void match_both(LaneGroup& group, size_t first) {
    uint32_t primary = 0;
    uint32_t displaced = 0;
    uint32_t spared = 0;
    const size_t lane_count = group.lane_count;
    for (size_t lane = 0; lane < lane_count; ++lane) {
      const Tag tag = tag_of(group.hashes[lane]);
      const BucketIndex bucket = engine->map().primary(group.hashes[lane]);
      const Line& line = engine->layout().line(bucket);
      const BucketIndex other = engine->placement().secondary(bucket, line, tag);
      const auto key = batch.keys[first + lane];
      const unsigned here = engine->template candidates<K>(line, tag, key);
      const unsigned there = engine->template candidates<K>(engine->layout().line(other), tag, key);
      const auto is_here = static_cast<unsigned>(here != 0);
      const auto is_there = static_cast<unsigned>(there != 0) & ~is_here;
      const auto slot = static_cast<unsigned>(std::countr_zero(here | 0x80U));
      const auto other_slot = static_cast<unsigned>(std::countr_zero(there | 0x80U));
      const std::byte* target =
          select(is_here, engine->layout().target({bucket, slot}),
                 select(is_there, engine->layout().target({other, other_slot}), address_of(line)));
      prefetch<kHint>(target);
      engine->layout().for_each_further_line([&](size_t offset) __attribute__((always_inline)) {
        prefetch<kHint>(select(is_here | is_there, target + offset, target));
      });
      group.targets[lane] = target;
      primary |= is_here << lane;
      displaced |= is_there << lane;
      spared |= (static_cast<unsigned>(line.spared != 0) & ~(is_here | is_there)) << lane;
    }
    group.primary = primary;
    group.secondary = ~uint32_t{0} >> (kLanesPerGroup - lane_count);
    group.displaced = displaced;
    group.spared = spared;
  }

  static const std::byte* address_of(const Line& line) {
    return reinterpret_cast<const std::byte*>(&line);
  }

  // `condition` ? yes : no, for a condition of 0 or 1, in a form that compilers do not make a
  // branch of.
  static const std::byte* select(unsigned condition, const std::byte* yes, const std::byte* no) {
    const auto from = reinterpret_cast<uintptr_t>(no);
    const uintptr_t difference = reinterpret_cast<uintptr_t>(yes) ^ from;
    return reinterpret_cast<const std::byte*>(from ^ (difference & (0 - uintptr_t{condition})));
  }

  // Looks at the secondary buckets' lines; a candidate there becomes the lane's target.
  template <Kernel K, PrefetchHint kHint>
  [[gnu::always_inline]] void match_secondary(LaneGroup& group, size_t first) {
    uint32_t displaced = 0;
    uint32_t spared = 0;
    for (uint32_t lanes = group.secondary; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const Tag tag = tag_of(group.hashes[lane]);
      const BucketIndex primary = engine->map().primary(group.hashes[lane]);
      const BucketIndex bucket =
          engine->placement().secondary(primary, engine->layout().line(primary), tag);
      const unsigned candidates = engine->template candidates<K>(engine->layout().line(bucket), tag,
                                                                 batch.keys[first + lane]);
      if (candidates == 0) {
        spared |= static_cast<uint32_t>(engine->layout().line(primary).spared != 0) << lane;
        continue;
      }
      group.targets[lane] =
          engine->layout().target({bucket, static_cast<unsigned>(std::countr_zero(candidates))});
      prefetch<kHint>(group.targets[lane]);
      engine->layout().for_each_further_line([&](size_t offset) __attribute__((always_inline)) {
        prefetch<kHint>(group.targets[lane] + offset);
      });
      displaced |= uint32_t{1} << lane;
    }
    group.displaced = displaced;
    group.spared = spared;
  }

  // Answers the group's lanes; returns how many hit.
  template <Kernel K>
  [[gnu::always_inline]] size_t finish(const LaneGroup& group, size_t first) {
    const uint32_t candidates = group.primary | group.displaced;
    uint32_t found = compare<K>(group, first, candidates);
    const uint32_t mistaken = candidates & ~found;
    if constexpr (Counts::kEnabled) {
      counts->secondary_visits += static_cast<uint64_t>(std::popcount(group.secondary));
      counts->tag_false_positives += static_cast<uint64_t>(std::popcount(mistaken));
      counts->spare_visits += static_cast<uint64_t>(std::popcount(group.spared));
    }
    if ((mistaken | group.spared) != 0) [[unlikely]]
      found |= search_rest<K>(group, first, mistaken | group.spared);
    if constexpr (Counts::kEnabled) {
      counts->filter_false_positives +=
          static_cast<uint64_t>(std::popcount(group.secondary & ~(found & ~group.primary)));
    }
    hits.write_group(first, found);
    return static_cast<size_t>(std::popcount(found));
  }

  // Compares the candidates of `lanes` with their keys and answers those that are equal.
  template <Kernel K>
  [[gnu::always_inline]] uint32_t compare(const LaneGroup& group, size_t first, uint32_t lanes) {
    uint32_t found = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const std::byte* entry = group.targets[lane];
      if (!K::template equal_keys<Layout::kKeyBytes>(entry, batch.keys[first + lane])) continue;
      action(first + lane, Layout::value_of_target(entry));
      found |= uint32_t{1} << lane;
    }
    return found;
  }

  // Lanes whose first candidate was another key with the same tag, or which must look at the spare
  // buckets.
  template <Kernel K>
  [[gnu::noinline, gnu::cold]] uint32_t search_rest(const LaneGroup& group, size_t first,
                                                    uint32_t lanes) {
    uint32_t found = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      SlotRef at{};
      if (!engine->template locate<K>(batch.keys[first + lane], group.hashes[lane], at)) continue;
      action(first + lane, engine->layout().value(at));
      found |= uint32_t{1} << lane;
    }
    return found;
  }
};

}  // namespace roost
