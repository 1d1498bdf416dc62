// The lookup of a batch: many keys at once, so that their cache misses overlap (CPP-06, CPP-07).
//
// Idea: lanes go through in groups, each group in four stages, and every stage touches only lines
// that the stage before it asked for.
//
//     start      hash the key, prefetch its primary bucket's line
//     match      compare tags; prefetch the entry of the first candidate; where there is none and
//                the filter lets the lookup go on, prefetch the secondary bucket's line
//     secondary  the same in that line
//     finish     compare keys and answer
//
// Where candidates are exact (inline and packed layouts), `match` asks for secondary lines only,
// there is nothing to compare in `finish`, and `secondary` is a part of it: those in their primary
// bucket are answered first, while secondary lines arrive.
//
// Pessimistic probing prefetches both lines in `start`, matches both in `match`, and has no
// secondary stage.
//
// The groups of a call follow each other a stage apart: while one waits for its lines, the three
// after it have the processor. A split-phase lookup that names the next batch goes on so across
// calls.
//
// Hit or miss is what the processor cannot predict, so `match` decides nothing by a branch: each
// lane prefetches one line, and a lane without a candidate the line it has already. Lanes that go
// on get theirs in a loop over them alone. Without a filter, a batch of one group, which has
// nothing else to do meanwhile, asks for a lane's secondary line at once, and pays for every lane's
// secondary bucket. The rare lanes whose first candidate was not the key, or
// whose key may sit in the stash, are searched one by one in the end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/isa/kernel.h"
#include "roost/isa/prefetch.h"
#include "roost/isa/select.h"
#include "roost/table/key_source.h"
#include "roost/table/lane_group.h"
#include "roost/table/layout.h"
#include "roost/table/probe.h"
#include "roost/table/shared_answer.h"
#include "roost/table/slot_mask.h"

namespace roost {

// `action(lane, value address in the table)` is called once for each lane that hits, in no
// particular order.
template <class Engine, class Keys, class Hashes, class Action, class Next, class Probe>
struct LookupBatch {
  static constexpr bool kGainsFromAvx2 = true;

  const Engine* engine;
  KeyBatch<Keys, Hashes> batch;
  HitWords hits;
  Action action;
  Next next;
  PrefetchHint line_hint;
  Probe* probe;

  // Returns the number of hits. The stages are inlined by command: Clang's flatten reaches one
  // level of calls only.
  template <Kernel K>
  size_t run() {
    ROOST_ASSERT(hits.hold(batch.keys.count));
    probe->begin(batch.keys.count, K::kIsa);
    const size_t group_count = (batch.keys.count + kLanesPerGroup - 1) / kLanesPerGroup;
    std::array<LaneGroup, kStages> groups;
    const auto group = [&groups](size_t number) -> LaneGroup& { return groups[number % kStages]; };
    size_t hit_count = 0;
    for (size_t turn = 0; turn < group_count + kLast; ++turn) {
      if (turn >= 1 && turn - 1 < group_count)
        match<K>(group(turn - 1), (turn - 1) * kLanesPerGroup);
      if (turn < group_count) start(group(turn), turn * kLanesPerGroup);
      if (turn == group_count) next.start();
      if (!kVisitsBoth && !kIsExact && turn >= 2 && turn - 2 < group_count)
        match_secondary<K>(group(turn - 2), (turn - 2) * kLanesPerGroup);
      if (turn >= kLast)
        hit_count += finish<K>(group(turn - kLast), (turn - kLast) * kLanesPerGroup);
    }
    probe->end(hit_count);
    return hit_count;
  }

 private:
  using Layout = typename Engine::Layout;
  using Line = typename Engine::Line;
  static constexpr bool kIsShared = Layout::Access::kIsShared;
  static constexpr bool kVisitsBoth = Engine::Probing::kVisitsBoth;
  static constexpr bool kIsExact = Layout::kCandidatesAreExact;
  static_assert(!(kVisitsBoth && kIsExact), "pessimistic probing is for the split layout");
  static_assert(!(kVisitsBoth && kIsShared), "pessimistic probing is for tables of one thread");
  static constexpr size_t kStages = kVisitsBoth || kIsExact ? 3 : 4;
  static constexpr size_t kLast = kStages - 1;
  // What stands for the slot of a line without a candidate, so that it is not branched on.
  static constexpr unsigned kSlotLast = kSlotsPerBucket - 1;

  [[gnu::always_inline]] void start(LaneGroup& group, size_t first) {
    group.lane_count = std::min(kLanesPerGroup, batch.keys.count - first);
    const bool is_started = first < batch.started_count;
    if (is_started) {
      for (size_t lane = 0; lane < group.lane_count; ++lane)
        group.take(lane, batch.started[first + lane], primary_line(batch.started[first + lane]));
      return;
    }
    for (size_t lane = 0; lane < group.lane_count; ++lane) {
      const Hash64 hash = batch.hashes(first + lane, batch.keys[first + lane]);
      group.take(lane, hash, primary_line(hash));
      engine->placement().prefetch_lines(line_hint, hash);
    }
  }

  // Looks at the primary buckets' lines.
  template <Kernel K>
  [[gnu::always_inline]] void match(LaneGroup& group, size_t first) {
    if constexpr (kVisitsBoth) return match_both<K>(group, first);
    // A byte a lane, read back as bits: that takes fewer instructions a lane than to collect bits.
    alignas(32) std::array<uint8_t, kLanesPerGroup> candidates_of{};
    alignas(32) std::array<uint8_t, kLanesPerGroup> may_go_on{};
    for (size_t lane = 0; lane < group.lane_count; ++lane) {
      const Tag tag = engine->layout().tag_of(group.hashes[lane]);
      const Line& line_at = group.template line<Line>(lane);
      const Line& line = Layout::Access::look(line_at);
      probe->touch(TouchKind::kPrimaryLine, &line_at, sizeof(line));
      const SlotMask candidates =
          engine->template candidates<K>(line, tag, batch.keys[first + lane], Residence::kPrimary);
      candidates_of[lane] = static_cast<uint8_t>(candidates.bits());
      if constexpr (KeepsFilter<Line>)
        may_go_on[lane] = static_cast<uint8_t>(engine->placement().may_be_displaced(line, tag));
      const std::byte* entry = engine->layout().target(line_at, candidates.lowest_or(kSlotLast));
      if constexpr (kIsExact) {
        group.targets[lane] = entry;
        if (asks_at_once()) {
          group.targets[lane] =
              select(candidates.bits(), entry, address_of(secondary_line(group.hashes[lane])));
          prefetch(line_hint, group.targets[lane]);
        }
      } else {
        const std::byte* target = select(candidates.bits(), entry, address_of(line_at));
        ask_for_entry(target, candidates.bits());
        group.targets[lane] = target;
      }
    }
    group.primary = LaneMask{K::nonzero_bytes(candidates_of.data())} & group.all_lanes();
    group.secondary = group.all_lanes() - group.primary;
    if constexpr (KeepsFilter<Line>)
      group.secondary = LaneMask{K::nonzero_bytes(may_go_on.data())} & group.secondary;
    if (asks_at_once()) return;
    for (const unsigned lane : group.secondary) {
      group.targets[lane] = address_of(secondary_line(group.hashes[lane]));
      prefetch(line_hint, group.targets[lane]);
    }
  }

  // Asks for all lines of the entry at `target`, if one is there, else for one.
  [[gnu::always_inline]] void ask_for_entry(const std::byte* target, uint32_t is_there) const {
    prefetch(entry_hint(line_hint), target);
    engine->layout().for_each_further_line([&](size_t offset) __attribute__((always_inline)) {
      prefetch(entry_hint(line_hint), select(is_there, target + offset, target));
    });
  }

  // Looks at both lines of each lane at once.
  template <Kernel K>
  [[gnu::always_inline]] void match_both(LaneGroup& group, size_t first) {
    LaneMask primary{};
    LaneMask displaced{};
    LaneMask stash{};
    for (unsigned lane = 0; lane < group.lane_count; ++lane) {
      const Tag tag = engine->layout().tag_of(group.hashes[lane]);
      const Line& line = group.template line<Line>(lane);
      const Line& other_line = secondary_line(group.hashes[lane]);
      probe->touch(TouchKind::kPrimaryLine, &line, sizeof(line));
      probe->touch(TouchKind::kSecondaryLine, &other_line, sizeof(other_line));
      const auto key = batch.keys[first + lane];
      const SlotMask here = engine->template candidates<K>(line, tag, key, Residence::kPrimary);
      const SlotMask there =
          engine->template candidates<K>(other_line, tag, key, Residence::kDisplaced);
      const bool is_here = !here.empty();
      const bool is_there = !there.empty() && !is_here;
      const std::byte* entry = engine->layout().target(line, here.lowest_or(kSlotLast));
      const std::byte* other_entry =
          engine->layout().target(other_line, there.lowest_or(kSlotLast));
      const std::byte* target =
          select(is_here, entry, select(is_there, other_entry, address_of(line)));
      ask_for_entry(target, static_cast<uint32_t>(is_here || is_there));
      group.targets[lane] = target;
      primary |= LaneMask::of(lane, is_here);
      displaced |= LaneMask::of(lane, is_there);
      stash |=
          LaneMask::of(lane, engine->placement().may_be_stashed(line) && !is_here && !is_there);
    }
    group.primary = primary;
    group.secondary = group.all_lanes();
    group.displaced = displaced;
    group.stash = stash;
  }

  // Whether lanes without a candidate ask for their secondary lines one by one.
  [[nodiscard]] bool asks_at_once() const {
    return kIsExact && !KeepsFilter<Line> && batch.keys.count <= kLanesPerGroup;
  }

  [[nodiscard]] const Line& primary_line(Hash64 hash) const {
    return engine->layout().line_at(engine->map().primary(hash));
  }
  [[nodiscard]] BucketIndex secondary(Hash64 hash) const {
    const BucketIndex primary = engine->map().primary(hash);
    return engine->placement().secondary(primary, engine->layout().line_at(primary),
                                         engine->layout().tag_of(hash));
  }
  [[nodiscard]] const Line& secondary_line(Hash64 hash) const {
    return engine->layout().line_at(secondary(hash));
  }
  static const std::byte* address_of(const Line& line) {
    return reinterpret_cast<const std::byte*>(&line);
  }

  [[nodiscard]] bool may_be_stashed(Hash64 hash) const {
    return engine->placement().may_be_stashed(primary_line(hash));
  }

  // Looks at the secondary buckets' lines; a candidate there becomes the lane's target.
  template <Kernel K>
  [[gnu::always_inline]] void match_secondary(LaneGroup& group, size_t first) {
    LaneMask displaced{};
    LaneMask stash{};
    for (const unsigned lane : group.secondary) {
      const Tag tag = engine->layout().tag_of(group.hashes[lane]);
      const Line& line_at = group.template line<Line>(lane);
      const Line& line = Layout::Access::look(line_at);
      probe->touch(TouchKind::kSecondaryLine, &line_at, sizeof(line));
      const SlotMask candidates = engine->template candidates<K>(
          line, tag, batch.keys[first + lane], Residence::kDisplaced);
      if (candidates.empty()) {
        if constexpr (!kIsShared) stash |= LaneMask::of(lane, may_be_stashed(group.hashes[lane]));
        continue;
      }
      group.targets[lane] = engine->layout().target(line_at, candidates.lowest());
      if constexpr (!kIsExact) ask_for_entry(group.targets[lane], 1);
      displaced |= LaneMask::of(lane);
    }
    group.displaced = displaced;
    group.stash = stash;
  }

  // Answers the group's lanes; returns how many hit.
  template <Kernel K>
  [[gnu::always_inline]] size_t finish(LaneGroup& group, size_t first) {
    LaneMask found{};
    if constexpr (kIsExact) {
      found = compare<K>(group, first, group.primary, [](auto) { return Residence::kPrimary; });
      match_secondary<K>(group, first);
      found |=
          compare<K>(group, first, group.displaced, [](auto) { return Residence::kDisplaced; });
    } else {
      found = compare<K>(group, first, group.primary | group.displaced, [&](unsigned lane) {
        return group.primary.has(lane) ? Residence::kPrimary : Residence::kDisplaced;
      });
    }
    const LaneMask candidates = group.primary | group.displaced;
    // Who is not found while the table may change is no miss before it was searched again.
    const LaneMask rest =
        kIsShared ? group.all_lanes() - found : (candidates - found) | group.stash;
    if (!rest.empty()) [[unlikely]]
      found |= search_rest<K>(group, first, rest);
    if constexpr (Probe::kEnabled)
      probe->mislead((group.secondary - (found - group.primary)).count());
    hits.write_group(first, found.bits());
    return found.count();
  }

  // Compares the candidates of `lanes`, which are in their buckets by residence(lane), with their
  // keys, unless they are exact, and answers those that are equal.
  template <Kernel K, class ResidenceOf>
  [[gnu::always_inline]] LaneMask compare(const LaneGroup& group, size_t first, LaneMask lanes,
                                          ResidenceOf&& residence) {
    LaneMask mistaken{};
    for (const unsigned lane : lanes) {
      const std::byte* entry = group.targets[lane];
      const auto key = batch.keys[first + lane];
      if constexpr (!kIsExact)
        probe->touch(TouchKind::kEntry, entry, engine->layout().entry().bytes());
      if (is_key<K>(entry, key) && answer(group, lane, first + lane, residence(lane))) [[likely]]
        continue;
      mistaken |= LaneMask::of(lane);
      probe->mistake();
    }
    return lanes - mistaken;
  }

  // Answers a lane with its candidate, unless that has changed meanwhile.
  [[gnu::always_inline]] bool answer(const LaneGroup& group, unsigned lane, size_t lane_of_batch,
                                     [[maybe_unused]] Residence residence) {
    const std::byte* target = group.targets[lane];
    if constexpr (kIsShared) {
      using KeyBytes = std::remove_cvref_t<decltype(batch.keys[lane_of_batch])>;
      const SharedCandidate<KeyBytes> candidate{residence, group.hashes[lane],
                                                batch.keys[lane_of_batch], target};
      return answer_candidate(*engine, candidate, action, lane_of_batch);
    } else {
      action(lane_of_batch, Layout::value_of_target(target));
      return true;
    }
  }

  // Whether a candidate in one of the key's own buckets is the key.
  template <Kernel K>
  [[gnu::always_inline]] bool is_key(const std::byte* entry, const std::byte* key) const {
    if constexpr (kIsExact || kIsShared)
      return may_hold(engine->layout(), key);
    else
      return K::template equal_keys<Layout::kKeyBytes>(entry, key);
  }

  // Lanes whose first candidate was another key with the same tag, or which must look at the
  // stash.
  template <Kernel K>
  [[gnu::noinline, gnu::cold]] LaneMask search_rest(const LaneGroup& group, size_t first,
                                                    LaneMask lanes) {
    LaneMask found{};
    tell_of_stash(*probe, *engine, group.stash.count());
    for (const unsigned lane : lanes)
      found |= LaneMask::of(lane, search<K>(group.hashes[lane], first + lane));
    return found;
  }

  // Searches all places of a lane's key and answers it; what was seen before does not count.
  template <Kernel K>
  [[nodiscard]] bool search(Hash64 hash, size_t lane) {
    const auto key = batch.keys[lane];
    if constexpr (kIsShared) {
      return search_and_answer(*engine, key, hash, action, lane, [this] { probe->repeat(); });
    } else {
      SlotRef at{};
      if (!engine->template locate<K>(key, hash, at)) return false;
      if constexpr (!kIsExact)
        probe->touch(TouchKind::kEntry, engine->layout().key(at), engine->layout().entry().bytes());
      action(lane, engine->layout().value(at));
      return true;
    }
  }
};

}  // namespace roost
