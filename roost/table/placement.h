// Where entries are, and what the buckets' lines know of it: the accounts that every insert, move,
// erase and expiry must keep (invariants I1, I2, I4, I5, I6 and I8 of engine.h).
//
// Whenever an entry comes to sit outside its primary bucket, the primary's filter and moved count
// learn of it; whenever it leaves, the count forgets it. All of that follows from an entry's tag
// and place: nothing here reads a key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "roost/hash/bucket_map.h"
#include "roost/isa/prefetch.h"
#include "roost/table/probing.h"
#include "roost/table/split_layout.h"
#include "roost/table/table_stats.h"
#include "roost/table/tag_line.h"

namespace roost {

template <class LayoutT, ProbingPolicy ProbingT>
class Placement {
 public:
  using Layout = LayoutT;
  using Probing = ProbingT;

  Placement(Layout layout, BucketMap map) : layout_(layout), map_(map) {
    stats_.capacity = map.bucket_count() * Layout::kSlots;
    stats_.spare_slots = layout.bucket_counts().spare * Layout::kSlots;
    stats_.moved_histogram[0] = bucket_count();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const TableStats& stats() const { return stats_; }
  [[nodiscard]] TableStats& stats() { return stats_; }

  // Buckets of all sorts: those of the map, and the spare ones.
  [[nodiscard]] uint64_t bucket_count() const { return layout_.bucket_counts().all(); }

  // Whether a key with this tag, whose primary bucket has this line, may sit in another bucket.
  [[nodiscard]] static bool may_be_displaced(const TagLine& line, Tag tag) {
    return Probing::may_be_displaced(line, tag);
  }

  // The secondary bucket that it sits in then, unless it sits in a spare one.
  [[nodiscard]] BucketIndex secondary(BucketIndex primary, const TagLine& line, Tag tag) const {
    return Probing::secondary(map_, primary, line, tag);
  }

  // Calls visit(bucket) with each secondary bucket that a key may be displaced to.
  template <class Visit>
  void for_each_secondary(BucketIndex primary, Tag tag, Visit&& visit) const {
    Probing::for_each_secondary(map_, primary, layout_.line(primary), tag, visit);
  }

  // Calls visit(bucket) with each bucket that the entry in `at` may move to.
  template <class Visit>
  void for_each_move(SlotRef at, Visit&& visit) const {
    const BucketIndex primary = primary_of(at);
    const bool is_home = at.bucket == primary;
    if (!is_home) visit(primary);
    if (is_home || layout_.is_spare(at.bucket))
      for_each_secondary(primary, Tag{layout_.line(at.bucket).tags[at.slot]}, visit);
  }

  // Asks for the lines that a lookup reads whatever they hold.
  template <PrefetchHint kHint>
  [[gnu::always_inline]] void prefetch_lines(Hash64 hash) const {
    const BucketIndex primary = map_.primary(hash);
    const TagLine& line = layout_.line(primary);
    prefetch<kHint>(&line);
    if constexpr (Probing::kVisitsBoth)
      prefetch<kHint>(&layout_.line(secondary(primary, line, tag_of(hash))));
  }

  // Calls try_bucket on the spare buckets until one returns true; false when none does.
  template <class TryBucket>
  bool for_each_spare_bucket(TryBucket&& try_bucket) const {
    for (uint64_t bucket = map_.bucket_count(); bucket < bucket_count(); ++bucket) {
      if (try_bucket(BucketIndex{bucket})) return true;
    }
    return false;
  }

  // Drops every entry. Lines that are zero are not written, so that memory that was never touched
  // stays untouched.
  void clear() {
    for (uint64_t bucket = 0; bucket < bucket_count(); ++bucket) {
      TagLine& line = layout_.line(BucketIndex{bucket});
      if (line.busy != 0 || line.moved != 0) line = TagLine{};
    }
    stats_.erased += std::exchange(stats_.size, 0);
    stats_.spared = 0;
    stats_.moved_histogram.fill(0);
    stats_.moved_histogram[0] = bucket_count();
  }

  void move_entry(SlotRef from, SlotRef to) {
    const TagLine& line = layout_.line(from.bucket);
    const Tag tag{line.tags[from.slot]};
    const uint16_t timer = line.timers[from.slot];
    const BucketIndex primary = primary_of(from);
    layout_.copy_entry(from, to);
    vacate(from);
    occupy(to, tag, timer, primary);
  }

  // The primary bucket of the entry in `at`.
  [[nodiscard]] BucketIndex primary_of(SlotRef at) const {
    const TagLine& line = layout_.line(at.bucket);
    const bool is_displaced = ((line.displaced >> at.slot) & 1) != 0;
    if (!is_displaced) return at.bucket;
    if (layout_.is_spare(at.bucket)) return layout_.home(at);
    return Probing::primary(map_, at.bucket, line, at.slot);
  }

  void occupy(SlotRef at, Tag tag, uint16_t timer, BucketIndex primary) {
    TagLine& line = layout_.line(at.bucket);
    const auto bit = static_cast<uint8_t>(1U << at.slot);
    line.tags[at.slot] = static_cast<uint16_t>(tag);
    line.timers[at.slot] = timer;
    line.busy |= bit;
    if (at.bucket != primary) {
      line.displaced |= bit;
      note_moved({primary, layout_.line(primary), at, line});
      if (layout_.is_spare(at.bucket)) {
        layout_.set_home(at, primary);
        ++layout_.line(primary).spared;
        ++stats_.spared;
      }
    }
    stats_.size += 1;
  }

  void vacate(SlotRef at) {
    TagLine& line = layout_.line(at.bucket);
    const auto bit = static_cast<uint8_t>(1U << at.slot);
    line.busy = static_cast<uint8_t>(line.busy & ~bit);
    if ((line.displaced & bit) != 0) {
      const BucketIndex primary = primary_of(at);
      line.displaced = static_cast<uint8_t>(line.displaced & ~bit);
      forget_moved({primary, layout_.line(primary), at, line});
      if (layout_.is_spare(at.bucket)) {
        --layout_.line(primary).spared;
        --stats_.spared;
      }
    }
    stats_.size -= 1;
  }

 private:
  // An entry came to another bucket than its primary one.
  void note_moved(Displaced entry) {
    Probing::note(map_, entry);
    count_moved(entry.primary_line, 1);
  }

  // An entry left another bucket than its primary one.
  void forget_moved(Displaced entry) {
    count_moved(entry.primary_line, -1);
    Probing::forget(entry);
  }

  void count_moved(TagLine& line, int change) {
    if (line.moved == kMovedSaturated) return;
    --stats_.moved_histogram[histogram_field(line.moved)];
    line.moved = static_cast<uint16_t>(line.moved + change);
    ++stats_.moved_histogram[histogram_field(line.moved)];
  }

  static unsigned histogram_field(uint16_t moved) {
    return std::min<unsigned>(moved, kMovedHistogramMax);
  }

  Layout layout_;
  BucketMap map_;
  TableStats stats_;
};

}  // namespace roost
