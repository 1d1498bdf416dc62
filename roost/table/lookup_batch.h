// The lookup of a batch: many keys at once, so that their cache misses overlap (CPP-06, CPP-07).
//
// Idea: lanes go through in groups, each group in three stages, and every stage touches only lines
// that the stage before it asked for.
//
//     start    hash the key, prefetch its primary bucket's line
//     match    compare tags; prefetch the entry of the first candidate, or the secondary bucket's
//     line if the
//              filter lets the lookup go on, or nothing
//     finish   compare keys and answer
//
// While a group's second lines are on their way, the next group is started: calls of two groups and
// more keep the memory busy all the time, and so do split-phase lookups that name the next batch.
//
// Which line to prefetch in `match` is selected without a branch, since hit or miss is what the
// processor cannot predict. The rare lanes whose first candidate was not the key are searched one
// by one in the end.
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
#include "roost/table/policies.h"
#include "roost/table/split_layout.h"

namespace roost {

inline constexpr size_t kLanesPerGroup = 32;

// What a group carries from stage to stage.
struct LaneGroup {
  size_t lane_count;
  std::array<Hash64, kLanesPerGroup> hashes;
  std::array<const std::byte*, kLanesPerGroup> targets;  // candidate entry, or secondary line
  uint32_t primary;    // lanes with a candidate in their primary bucket
  uint32_t secondary;  // lanes whose secondary bucket must be looked at
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
    table->template start_flight<kHint>(*flight);
  }
};

// `action(lane, key address in the table)` is called once for each lane that hits, in no particular
// order.
template <class Engine, class Keys, class Hashes, class Action, class Next, class Counts>
struct LookupBatch {
  Engine* engine;
  KeyBatch<Keys, Hashes> batch;
  HitWords hits;
  Action action;
  Next next;
  PrefetchHint hint;
  Counts* counts;

  // Returns the number of hits.
  template <Kernel K>
  size_t run() {
    return hint == PrefetchHint::kNta ? run_groups<K, PrefetchHint::kNta>()
                                      : run_groups<K, PrefetchHint::kT0>();
  }

 private:
  using Layout = typename Engine::Layout;

  template <Kernel K, PrefetchHint kHint>
  size_t run_groups() {
    ROOST_ASSERT(hits.hold(batch.keys.count));
    if constexpr (Counts::kEnabled) {
      counts->lookups += batch.keys.count;
      counts->last_kernel = K::kIsa;
    }
    if (batch.keys.count == 0) next.template start<kHint>();
    std::array<LaneGroup, 2> groups;
    size_t hit_count = 0;
    start<kHint>(groups[0], 0);
    for (size_t first = 0, turn = 0; first < batch.keys.count; first += kLanesPerGroup, turn ^= 1) {
      match<K, kHint>(groups[turn]);
      if (const size_t following = first + kLanesPerGroup; following < batch.keys.count) {
        start<kHint>(groups[turn ^ 1], following);
      } else {
        next.template start<kHint>();
      }
      const uint32_t found = finish<K, kHint>(groups[turn], first);
      hits.write_group(first, found);
      hit_count += static_cast<size_t>(std::popcount(found));
    }
    if constexpr (Counts::kEnabled) counts->hits += hit_count;
    return hit_count;
  }

  template <PrefetchHint kHint>
  void start(LaneGroup& group, size_t first) {
    group.lane_count = std::min(kLanesPerGroup, batch.keys.count - first);
    if (first < batch.started_count) {
      std::copy_n(batch.started + first, group.lane_count, group.hashes.begin());
      return;
    }
    for (size_t lane = 0; lane < group.lane_count; ++lane) {
      group.hashes[lane] = batch.hashes(first + lane, batch.keys[first + lane]);
      prefetch<kHint>(&engine->layout().line(engine->map().primary(group.hashes[lane])));
    }
  }

  template <Kernel K, PrefetchHint kHint>
  void match(LaneGroup& group) {
    uint32_t primary = 0;
    uint32_t secondary = 0;
    const size_t lane_count = group.lane_count;
    for (size_t lane = 0; lane < lane_count; ++lane) {
      const Tag tag = tag_of(group.hashes[lane]);
      const BucketIndex bucket = engine->map().primary(group.hashes[lane]);
      const TagLine& line = engine->layout().line(bucket);
      const unsigned candidates = engine->template candidates<K>(line, tag);
      const auto is_candidate = static_cast<unsigned>(candidates != 0);
      const auto goes_on =
          static_cast<unsigned>(engine->may_be_displaced(line, tag)) & ~is_candidate;
      const auto slot = static_cast<unsigned>(std::countr_zero(candidates | 0x80U));
      const std::byte* entry = engine->layout().key({bucket, slot});
      const std::byte* other = address_of(engine->layout().line(engine->map().other(bucket, tag)));
      const std::byte* target =
          select(is_candidate, entry, select(goes_on, other, address_of(line)));
      prefetch<kHint>(target);
      if constexpr (64 % Layout::kEntryBytes != 0) {
        prefetch<kHint>(select(is_candidate, entry + Layout::kEntryBytes - 1, target));
      }
      group.targets[lane] = target;
      primary |= is_candidate << lane;
      secondary |= goes_on << lane;
    }
    group.primary = primary;
    group.secondary = secondary;
  }

  static const std::byte* address_of(const TagLine& line) {
    return reinterpret_cast<const std::byte*>(&line);
  }

  // `condition` ? yes : no, for a condition of 0 or 1, in a form that compilers do not make a
  // branch of.
  static const std::byte* select(unsigned condition, const std::byte* yes, const std::byte* no) {
    const auto from = reinterpret_cast<uintptr_t>(no);
    const uintptr_t difference = reinterpret_cast<uintptr_t>(yes) ^ from;
    return reinterpret_cast<const std::byte*>(from ^ (difference & (0 - uintptr_t{condition})));
  }

  // Returns the lanes that hit.
  template <Kernel K, PrefetchHint kHint>
  uint32_t finish(LaneGroup& group, size_t first) {
    const uint32_t moved = match_secondary<K, kHint>(group);
    uint32_t found = compare<K>(group, first, group.primary) | compare<K>(group, first, moved);
    const uint32_t mistaken = (group.primary | moved) & ~found;
    if constexpr (Counts::kEnabled) {
      counts->secondary_visits += static_cast<uint64_t>(std::popcount(group.secondary));
      counts->tag_false_positives += static_cast<uint64_t>(std::popcount(mistaken));
    }
    if (mistaken != 0) [[unlikely]]
      found |= search_rest<K>(group, first, mistaken);
    if constexpr (Counts::kEnabled) {
      counts->filter_false_positives +=
          static_cast<uint64_t>(std::popcount(group.secondary & ~found));
    }
    return found;
  }

  // Looks at the secondary buckets' lines; returns the lanes with a candidate there, whose targets
  // become it.
  template <Kernel K, PrefetchHint kHint>
  uint32_t match_secondary(LaneGroup& group) {
    uint32_t with_candidate = 0;
    for (uint32_t lanes = group.secondary; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const Tag tag = tag_of(group.hashes[lane]);
      const BucketIndex bucket =
          engine->map().other(engine->map().primary(group.hashes[lane]), tag);
      const unsigned candidates =
          engine->template candidates<K>(engine->layout().line(bucket), tag);
      if (candidates == 0) continue;
      group.targets[lane] =
          engine->layout().key({bucket, static_cast<unsigned>(std::countr_zero(candidates))});
      Layout::template prefetch_entry<kHint>(group.targets[lane]);
      with_candidate |= uint32_t{1} << lane;
    }
    return with_candidate;
  }

  // Compares the candidates of `lanes` with their keys and answers those that are equal.
  template <Kernel K>
  uint32_t compare(const LaneGroup& group, size_t first, uint32_t lanes) {
    uint32_t found = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      const std::byte* entry = group.targets[lane];
      if (!K::template equal_keys<Layout::kKeyBytes>(entry, batch.keys[first + lane])) continue;
      action(first + lane, entry);
      found |= uint32_t{1} << lane;
    }
    return found;
  }

  // Lanes whose first candidate was another key with the same tag.
  template <Kernel K>
  [[gnu::noinline, gnu::cold]] uint32_t search_rest(const LaneGroup& group, size_t first,
                                                    uint32_t lanes) {
    uint32_t found = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      SlotRef at{};
      if (!engine->template locate<K>(batch.keys[first + lane], group.hashes[lane], at)) continue;
      action(first + lane, engine->layout().key(at));
      found |= uint32_t{1} << lane;
    }
    return found;
  }
};

}  // namespace roost
