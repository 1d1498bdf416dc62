// Where entries are, and what the buckets' lines know of it: the accounts that every insert, move,
// erase and expiry must keep (invariants I1, I2, I4, I5, I6 and I8 of engine.h).
//
// Whenever an entry comes to sit outside its primary bucket, the primary's filter and moved count
// record it; whenever it leaves, the count is decremented. All of that follows from an entry's tag
// and place: nothing here reads a key, unless the layout keeps no tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "roost/hash/bucket_map.h"
#include "roost/isa/prefetch.h"
#include "roost/table/layout.h"
#include "roost/table/probing.h"
#include "roost/table/slot_mask.h"
#include "roost/table/table_stats.h"

namespace roost {

template <TableLayout LayoutT, ProbingPolicy<typename LayoutT::Line> ProbingT, class HashT>
class Placement {
 public:
  using Layout = LayoutT;
  using Line = typename Layout::Line;
  using Probing = ProbingT;
  using Hash = HashT;

  Placement(Layout layout, BucketMap map, const Hash& hash)
      : layout_(layout), map_(map), hash_(hash) {
    stats_.capacity = map.bucket_count() * Layout::kSlots;
    stats_.stash_slots = layout.bucket_counts().stash * Layout::kSlots;
    stats_.moved_histogram[0] = bucket_count();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const Hash& hash() const { return hash_; }
  [[nodiscard]] const TableStats& stats() const { return stats_; }
  [[nodiscard]] TableStats& stats() { return stats_; }

  // All buckets: those of the map, and the stash's.
  [[nodiscard]] uint64_t bucket_count() const { return layout_.bucket_counts().all(); }

  // The tag of the entry in `at`.
  [[nodiscard]] Tag tag(SlotRef at) const { return layout_.tag(at, hash_); }

  // Whether a key with this tag, whose primary bucket has this line, may sit in another bucket.
  [[nodiscard]] static bool may_be_displaced(const Line& line, Tag tag) {
    return Probing::may_be_displaced(line, tag);
  }

  // The secondary bucket that it sits in then, unless it is in the stash.
  [[nodiscard]] BucketIndex secondary(BucketIndex primary, const Line& line, Tag tag) const {
    return Probing::secondary(map_, primary, line, tag);
  }

  // Calls visit(bucket) with each secondary bucket that a key may be displaced to.
  template <class Visit>
  [[gnu::always_inline]] void for_each_secondary(BucketIndex primary, Tag tag,
                                                 Visit&& visit) const {
    Probing::for_each_secondary(map_, primary, layout_.line(primary), tag, visit);
  }

  // Calls visit(bucket) with each bucket that the entry in `at` may move to.
  template <class Visit>
  [[gnu::always_inline]] void for_each_move(SlotRef at, Visit&& visit) const {
    const Origin origin = origin_of(at);
    const bool is_home = at.bucket == origin.primary;
    if (!is_home) visit(origin.primary);
    if (is_home || layout_.is_stash(at.bucket))
      for_each_secondary(origin.primary, origin.tag, visit);
  }

  // Asks for the lines that a lookup reads whatever they hold.
  [[gnu::always_inline]] void prefetch_lines(PrefetchHint hint, Hash64 hash) const {
    const BucketIndex primary = map_.primary(hash);
    const Line& line = layout_.line(primary);
    prefetch(hint, &line);
    if constexpr (Probing::kVisitsBoth)
      prefetch(hint, &layout_.line(secondary(primary, line, tag_of(hash))));
  }

  // Calls try_bucket on the buckets of the stash until one returns true; false when none does.
  template <class TryBucket>
  bool for_each_stash_bucket(TryBucket&& try_bucket) const {
    for (uint64_t bucket = map_.bucket_count(); bucket < bucket_count(); ++bucket) {
      if (try_bucket(BucketIndex{bucket})) return true;
    }
    return false;
  }

  // Drops every entry. Lines that are zero are not written, so that memory that was never touched
  // stays untouched.
  void clear() {
    for (uint64_t bucket = 0; bucket < bucket_count(); ++bucket) {
      Line& line = layout_.line(BucketIndex{bucket});
      if (line.busy != 0 || line.moved != 0) line = Line{};
    }
    stats_.erased += std::exchange(stats_.size, 0);
    stats_.stashed = 0;
    stats_.moved_histogram.fill(0);
    stats_.moved_histogram[0] = bucket_count();
  }

  // The line of the primary bucket may learn of the displaced entry in `at` what it forgot.
  void remind(SlotRef at) { Probing::remind(displaced(origin_of(at), at)); }

  void move_entry(SlotRef from, SlotRef to) {
    const Origin origin = origin_of(from);
    const uint16_t timer = layout_.line(from.bucket).timers[from.slot];
    layout_.copy_entry(from, to);
    vacate(from, origin);
    occupy(to, origin, timer);
  }

  [[nodiscard]] bool is_displaced(SlotRef at) const {
    return displaced_slots(layout_.line(at.bucket)).has(at.slot);
  }

  // The primary bucket of the entry in `at`, and its tag.
  [[nodiscard]] Origin origin_of(SlotRef at) const {
    return layout_.origin(at, hash_, map_, [&](Tag tag) {
      const Line& line = layout_.line(at.bucket);
      if (!is_displaced(at)) return at.bucket;
      if (layout_.is_stash(at.bucket)) return layout_.home(at);
      return Probing::primary(map_, at.bucket, line, at.slot, tag);
    });
  }

  // Calls visit(slot, tag) with each entry displaced from a bucket to which its line leads by these
  // bits of its filter; with some twice.
  template <class Visit>
  [[gnu::noinline]] void for_each_displaced_from(BucketIndex bucket, uint64_t filter_bits,
                                                 Visit&& visit) const {
    const auto visit_in = [&](BucketIndex lead) {
      for (const unsigned slot : displaced_slots(layout_.line(lead))) {
        const SlotRef at{lead, slot};
        if (const Origin origin = origin_of(at); origin.primary == bucket) visit(at, origin.tag);
      }
    };
    const Line& line = layout_.line(bucket);
    Probing::for_each_lead(
        map_, bucket, line, filter_bits, [this](BucketIndex lead) __attribute__((always_inline)) {
          prefetch(PrefetchHint::kT0, &layout_.line(lead));
        });
    Probing::for_each_lead(map_, bucket, line, filter_bits, visit_in);
    if (line.has_stashed == 0) return;
    for_each_stash_bucket([&](BucketIndex stash) {
      visit_in(stash);
      return false;
    });
  }

  void occupy(SlotRef at, Origin origin, uint16_t timer) {
    Line& line = layout_.line(at.bucket);
    const SlotMask slot = SlotMask::of(at.slot);
    layout_.set_tag(at, origin.tag);
    line.timers[at.slot] = timer;
    line.set_busy(busy_slots(line) | slot);
    if (at.bucket != origin.primary) {
      line.set_displaced(displaced_slots(line) | slot);
      note_moved(displaced(origin, at));
      if (layout_.is_stash(at.bucket)) {
        layout_.set_home(at, origin.primary);
        layout_.line(origin.primary).has_stashed = 1;
        ++stats_.stashed;
      }
    }
    stats_.size += 1;
  }

  void vacate(SlotRef at) { vacate(at, is_displaced(at) ? origin_of(at) : Origin{}); }

 private:
  [[nodiscard]] Displaced<Line> displaced(Origin origin, SlotRef at) {
    return {origin.tag, origin.primary, layout_.line(origin.primary), at, layout_.line(at.bucket)};
  }

  // `origin` is needed of displaced entries only.
  void vacate(SlotRef at, Origin origin) {
    Line& line = layout_.line(at.bucket);
    const SlotMask slot = SlotMask::of(at.slot);
    line.set_busy(busy_slots(line) - slot);
    if (is_displaced(at)) {
      line.set_displaced(displaced_slots(line) - slot);
      forget_moved(displaced(origin, at));
      if (layout_.is_stash(at.bucket)) {
        if (!has_stashed(origin.primary)) layout_.line(origin.primary).has_stashed = 0;
        --stats_.stashed;
      }
    }
    stats_.size -= 1;
  }

  // Whether the stash holds an entry of this primary bucket.
  [[nodiscard]] bool has_stashed(BucketIndex primary) const {
    return for_each_stash_bucket([&](BucketIndex bucket) {
      for (const unsigned slot : busy_slots(layout_.line(bucket))) {
        if (layout_.home({bucket, slot}) == primary) return true;
      }
      return false;
    });
  }

  // An entry came to another bucket than its primary one.
  void note_moved(Displaced<Line> entry) {
    Probing::note(map_, entry);
    count_moved(entry.primary_line, 1);
  }

  // An entry left another bucket than its primary one.
  void forget_moved(Displaced<Line> entry) {
    count_moved(entry.primary_line, -1);
    Probing::forget(entry);
    const uint64_t doubtful = Probing::doubtful_filter(entry.primary_line, entry.tag);
    if (doubtful == 0) return;
    uint64_t needed = entry.primary_line.filter & ~doubtful;
    for_each_displaced_from(entry.primary, doubtful, [&](SlotRef at, Tag tag) {
      needed |= Probing::needed_filter(layout_.line(at.bucket), at.slot, tag);
    });
    entry.primary_line.set_filter(needed);
  }

  void count_moved(Line& line, int change) {
    if (line.moved == Line::kMovedSaturated) return;
    --stats_.moved_histogram[histogram_field(line.moved)];
    line.set_moved(static_cast<unsigned>(line.moved + change));
    ++stats_.moved_histogram[histogram_field(line.moved)];
  }

  static unsigned histogram_field(unsigned moved) { return std::min(moved, kMovedHistogramMax); }

  Layout layout_;
  BucketMap map_;
  [[no_unique_address]] Hash hash_;
  TableStats stats_;
};

}  // namespace roost
