// Insert, upsert and erase of a batch. The lanes act one after the other, so that duplicate keys
// within a batch behave as they would in single calls; what they will most likely touch is asked
// for beforehand, in stages that change nothing:
//
//     start        hash the key, prefetch its primary bucket's line
//     look         prefetch the entry of a candidate or of a vacant slot there, and the secondary
//                  bucket's line, where there is neither or the key may be displaced
//     look beyond  the same in the secondary bucket; if that is full too, the lines of the buckets
//                  that the primary's entries may move to
//     act          insert or erase
//
// As in lookups, the groups of a call follow each other a stage apart.
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
#include "roost/table/slot_mask.h"

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

// `act.run<K>(lane, key bytes, hash)` does the work of one lane. Act::kCreatesEntries says whether
// it may write to a vacant slot.
template <class Engine, class Keys, class Hashes, class Act>
struct MutateBatch {
  Engine* engine;
  KeyBatch<Keys, Hashes> batch;
  Act act;
  PrefetchHint line_hint;

  // The groups follow each other a stage apart.
  template <Kernel K>
  size_t run() {
    const size_t group_count = (batch.keys.count + kLanesPerGroup - 1) / kLanesPerGroup;
    std::array<Group, kStages> groups;
    size_t done = 0;
    for (size_t turn = 0; turn < group_count + kLast; ++turn) {
      if (turn < group_count) start(groups[turn % kStages], turn);
      if (turn >= 1 && turn - 1 < group_count) look<K>(groups[(turn - 1) % kStages], turn - 1);
      if (turn >= 2 && turn - 2 < group_count)
        look_beyond<K>(groups[(turn - 2) % kStages], turn - 2);
      if (turn < kLast) continue;
      const size_t last = turn - kLast;
      for (size_t lane = 0; lane < lane_count(last); ++lane) {
        const size_t of_batch = last * kLanesPerGroup + lane;
        const bool is_done = act.template run<K>(of_batch, batch.keys[of_batch],
                                                 groups[last % kStages].hashes[lane]);
        done += is_done ? 1 : 0;
      }
    }
    return done;
  }

 private:
  using Line = typename Engine::Line;
  static constexpr size_t kStages = 4;
  static constexpr size_t kLast = kStages - 1;

  struct Group {
    std::array<Hash64, kLanesPerGroup> hashes;
    LaneMask beyond;  // lanes that must look beyond their primary bucket
  };
  // What a lane has in a bucket.
  enum class Place : uint8_t { kNone, kVacancy, kEntry };

  [[nodiscard]] size_t lane_count(size_t group) const {
    return std::min(kLanesPerGroup, batch.keys.count - group * kLanesPerGroup);
  }

  [[gnu::always_inline]] void start(Group& group, size_t number) {
    for (size_t lane = 0; lane < lane_count(number); ++lane) {
      const size_t of_batch = number * kLanesPerGroup + lane;
      group.hashes[lane] = batch.hashes(of_batch, batch.keys[of_batch]);
      engine->placement().prefetch_lines(line_hint, group.hashes[lane]);
    }
  }

  template <Kernel K>
  [[gnu::always_inline]] void look(Group& group, size_t number) {
    group.beyond = {};
    for (size_t lane = 0; lane < lane_count(number); ++lane) {
      const Hash64 hash = group.hashes[lane];
      const BucketIndex primary = engine->map().primary(hash);
      const Tag tag = engine->layout().tag_of(hash);
      const Place place =
          ask_for_entry<K>(primary, Residence::kPrimary, hash, number * kLanesPerGroup + lane);
      if (place == Place::kEntry) continue;
      // A key that is to be created may be there already, in its secondary bucket.
      const bool has_room = place == Place::kVacancy;
      if (has_room && !engine->placement().may_be_displaced(engine->layout().line(primary), tag))
        continue;
      group.beyond |= LaneMask::of(static_cast<unsigned>(lane), !has_room);
      engine->placement().for_each_secondary(
          primary, tag, [this](BucketIndex bucket) __attribute__((always_inline)) {
            prefetch(line_hint, &engine->layout().line_at(bucket));
          });
    }
  }

  // In full buckets, asks for the lines of those that their entries may move to.
  template <Kernel K>
  [[gnu::always_inline]] void look_beyond(const Group& group, size_t number) {
    for (const unsigned lane : group.beyond) {
      const Hash64 hash = group.hashes[lane];
      const BucketIndex primary = engine->map().primary(hash);
      bool is_somewhere = false;
      const Tag tag = engine->layout().tag_of(hash);
      engine->placement().for_each_secondary(primary, tag, [&](BucketIndex bucket) {
        is_somewhere =
            is_somewhere || ask_for_entry<K>(bucket, Residence::kDisplaced, hash,
                                             number * kLanesPerGroup + lane) != Place::kNone;
      });
      if (Act::kCreatesEntries && !is_somewhere) ask_for_moves(primary);
    }
  }

  // Asks for the entry that the lane will most likely read or write in this bucket, and says which
  // it is.
  template <Kernel K>
  [[gnu::always_inline]] Place ask_for_entry(BucketIndex bucket, Residence residence, Hash64 hash,
                                             size_t lane) {
    const Line& line = engine->layout().line(bucket);
    SlotMask slots = engine->template candidates<K>(line, engine->layout().tag_of(hash),
                                                    batch.keys[lane], residence);
    const Place place = slots.empty() ? Place::kVacancy : Place::kEntry;
    if (Act::kCreatesEntries && slots.empty()) slots = engine->template vacancies<K>(line);
    if (slots.empty()) return Place::kNone;
    if constexpr (!Engine::Layout::kCandidatesAreExact) {  // else it came with the line
      const std::byte* target =
          engine->layout().target(engine->layout().line_at(bucket), slots.lowest());
      prefetch(entry_hint(line_hint), target);
      engine->layout().for_each_further_line([&](size_t offset) __attribute__((always_inline)) {
        prefetch(entry_hint(line_hint), target + offset);
      });
    }
    return place;
  }

  [[gnu::always_inline]] void ask_for_moves(BucketIndex bucket) {
    for (unsigned slot = 0; slot < Engine::Layout::kSlots; ++slot) {
      engine->placement().for_each_move(
          {bucket, slot}, [this](BucketIndex next) __attribute__((always_inline)) {
            prefetch(line_hint, &engine->layout().line_at(next));
          });
    }
  }
};

// One lane of insert or upsert; true unless it is refused. `values` may point to const values
// when existing keys are overwritten: only kKeep writes to them.
template <class Engine>
struct InsertLane {
  static constexpr bool kCreatesEntries = true;

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
    return !is_refusal(outcome);
  }
};

// One lane of erase; true when there was an entry.
template <class Engine>
struct EraseLane {
  static constexpr bool kCreatesEntries = false;

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
