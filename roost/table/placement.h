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
#include "roost/table/split_layout.h"
#include "roost/table/table_stats.h"
#include "roost/table/tag_line.h"

namespace roost {

template <class LayoutT, class Filter>
class Placement {
 public:
  using Layout = LayoutT;

  Placement(Layout layout, BucketMap map) : layout_(layout), map_(map) {
    stats_.capacity = map.bucket_count() * kSlotsPerBucket;
    stats_.spare_slots = layout.bucket_counts().spare * kSlotsPerBucket;
    stats_.moved_histogram[0] = bucket_count();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const TableStats& stats() const { return stats_; }
  [[nodiscard]] TableStats& stats() { return stats_; }

  // Buckets of all sorts: those of the map, and the spare ones.
  [[nodiscard]] uint64_t bucket_count() const { return layout_.bucket_counts().all(); }

  // The other bucket of the entry with this tag in `at`: of one in a spare bucket, its primary.
  [[nodiscard]] BucketIndex other_bucket(SlotRef at, Tag tag) const {
    return layout_.is_spare(at.bucket) ? layout_.home(at) : map_.other(at.bucket, tag);
  }

  // Whether a key with this tag, whose primary bucket has this line, may sit in its secondary
  // bucket.
  [[nodiscard]] static bool may_be_displaced(const TagLine& line, Tag tag) {
    if constexpr (!Filter::kEnabled) return true;
    const uint64_t bits = filter_bits(tag);
    return (line.filter & bits) == bits;
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
    return is_displaced ? other_bucket(at, Tag{line.tags[at.slot]}) : at.bucket;
  }

  void occupy(SlotRef at, Tag tag, uint16_t timer, BucketIndex primary) {
    TagLine& line = layout_.line(at.bucket);
    const auto bit = static_cast<uint8_t>(1U << at.slot);
    line.tags[at.slot] = static_cast<uint16_t>(tag);
    line.timers[at.slot] = timer;
    line.busy |= bit;
    if (at.bucket != primary) {
      line.displaced |= bit;
      note_moved(primary, tag);
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
      forget_moved(primary);
      if (layout_.is_spare(at.bucket)) {
        --layout_.line(primary).spared;
        --stats_.spared;
      }
    }
    stats_.size -= 1;
  }

 private:
  // An entry with this tag, whose primary bucket is `primary`, came to another bucket.
  void note_moved(BucketIndex primary, Tag tag) {
    TagLine& line = layout_.line(primary);
    if constexpr (Filter::kEnabled) line.filter |= filter_bits(tag);
    if (line.moved == kMovedSaturated) return;
    --stats_.moved_histogram[histogram_field(line.moved)];
    ++stats_.moved_histogram[histogram_field(++line.moved)];
  }

  // An entry whose primary bucket is `primary` left another bucket.
  void forget_moved(BucketIndex primary) {
    TagLine& line = layout_.line(primary);
    if (line.moved == kMovedSaturated) return;
    --stats_.moved_histogram[histogram_field(line.moved)];
    ++stats_.moved_histogram[histogram_field(--line.moved)];
    if (line.moved == 0) line.filter = 0;
  }

  static unsigned histogram_field(uint16_t moved) {
    return std::min<unsigned>(moved, kMovedHistogramMax);
  }

  Layout layout_;
  BucketMap map_;
  TableStats stats_;
};

}  // namespace roost
