// How entries come, move and leave, and what the buckets' lines know of it: the accounts that every
// insert, move, erase and expiry must keep (invariants I1, I2, I4, I5, I6 and I8 of engine.h).
//
// Whenever an entry comes to sit outside its primary bucket, the primary's filter and moved count
// record it; whenever it leaves, the count is decremented. All of that follows from an entry's tag
// and place: nothing here reads a key, unless the layout keeps no tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roost/hash/bucket_map.h"
#include "roost/table/layout.h"
#include "roost/table/places.h"
#include "roost/table/probing.h"
#include "roost/table/slot_mask.h"
#include "roost/table/table_state.h"
#include "roost/table/table_stats.h"

namespace roost {

template <TableLayout LayoutT, ProbingPolicy<typename LayoutT::Line> ProbingT, class HashT>
class Placement : public Places<LayoutT, ProbingT, HashT> {
  using Places = roost::Places<LayoutT, ProbingT, HashT>;

 public:
  using Places::bucket_count;
  using Places::is_displaced;
  using Places::origin_of;
  using Places::Places;
  using typename Places::Access;
  using typename Places::Layout;
  using typename Places::Line;
  using typename Places::Probing;

  // The accounts of an empty table.
  void begin() {
    stats().capacity = map_.bucket_count() * Layout::kSlots;
    stats().stash_slots = layout_.bucket_counts().stash * Layout::kSlots;
    if constexpr (KeepsFilter<Line>) stats().moved_histogram[0] = bucket_count();
  }

  using Places::access;
  using Places::layout;
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] Access& access() { return access_; }
  [[nodiscard]] const TableStats& stats() const { return state_->stats; }
  [[nodiscard]] TableStats& stats() { return state_->stats; }

  // Drops every entry. Lines that are zero are not written, so that memory that was never touched
  // stays untouched.
  void clear() {
    for (uint64_t bucket = 0; bucket < bucket_count(); ++bucket) {
      if (is_in_use(layout_.line(BucketIndex{bucket}))) clear(BucketIndex{bucket});
    }
    stats().erased += std::exchange(stats().size, 0);
    stats().stashed = 0;
    Access::store(state_->has_stashed, 0);
    stats().moved_histogram.fill(0);
    if constexpr (KeepsFilter<Line>) stats().moved_histogram[0] = bucket_count();
  }

  // The line of the primary bucket may learn of the displaced entry in `at` what it forgot.
  void remind(SlotRef at) {
    if constexpr (KeepsFilter<Line>)
      change_displaced(origin_of(at), at, [](Displaced<Line> entry) { Probing::remind(entry); });
  }

  // Fills a free slot with a new entry.
  void insert_entry(SlotRef at, Origin origin, const std::byte* key, const std::byte* value,
                    uint16_t timer) {
    const EntryMark mark = mark_of(origin, at);
    [[maybe_unused]] const auto step = access_.step(at.bucket);
    layout_.place(at, mark, key, value);
    arrive(at, origin, timer, mark.is_displaced);
  }

  // Fills a free slot with the entry of another one, which is free then. At every step the entry
  // is in one of the two.
  void move_entry(SlotRef from, SlotRef to) {
    const Origin origin = origin_of(from);
    const EntryMark mark = mark_of(origin, to);
    const bool stays_displaced = is_displaced(from) && mark.is_displaced;
    [[maybe_unused]] const auto step = access_.step(from.bucket, to.bucket);
    layout_.place_copy(to, mark, from);
    arrive(to, origin, take_timer(from), mark.is_displaced && !stays_displaced);
    leave(from, origin, !stays_displaced);
    if constexpr (Access::kIsShared) {
      access_.moved(from.bucket, to.bucket,
                    [&](std::vector<std::byte>& bytes) { append_entry(to, bytes); });
    }
  }

  void vacate(SlotRef at) {
    const Origin origin = is_displaced(at) ? origin_of(at) : Origin{};
    [[maybe_unused]] const auto step = access_.step(at.bucket);
    leave(at, origin, true);
  }

  void write_value(SlotRef at, const std::byte* value) {
    [[maybe_unused]] const auto step = access_.step(at.bucket);
    layout_.write_value(at, value);
  }

  void set_timer(SlotRef at, uint16_t timer) {
    if constexpr (KeepsTimers<Line>) Access::set_timer(layout_.edit(at.bucket), at.slot, timer);
  }

 private:
  // Copies an entry behind others: padded key, value.
  void append_entry(SlotRef at, std::vector<std::byte>& bytes) const {
    const auto key = this->padded_key(at);
    const std::byte* key_bytes = key;
    bytes.insert(bytes.end(), key_bytes, key_bytes + Layout::kKeyBytes);
    const std::byte* value = layout_.value(at);
    bytes.insert(bytes.end(), value, value + layout_.entry().value_bytes());
  }

  // The timer of an entry that goes elsewhere.
  [[nodiscard]] uint16_t take_timer(SlotRef at) {
    if constexpr (KeepsTimers<Line>) {
      return Access::take_timer(layout_.edit(at.bucket), at.slot);
    } else {
      return 0;
    }
  }

  [[nodiscard]] static EntryMark mark_of(Origin origin, SlotRef at) {
    return {origin.tag, at.bucket != origin.primary};
  }

  // Makes a line as fresh memory is.
  void clear(BucketIndex bucket) {
    [[maybe_unused]] const auto step = access_.step(bucket);
    layout_.change(bucket, [](Line& line) { line = Line{}; });
  }

  // A line that is not as fresh memory is, but for what free slots still hold.
  [[nodiscard]] static bool is_in_use(const Line& line) {
    if constexpr (KeepsFilter<Line>) {
      return !busy_slots(line).empty() || line.moved != 0;
    } else {
      return !busy_slots(line).empty();
    }
  }

  // Lets change(entry) change both lines of the displaced entry in `at`.
  template <class Change>
  [[gnu::always_inline]] void change_displaced(Origin origin, SlotRef at, Change&& change)
    requires KeepsFilter<Line>
  {
    layout_.change(origin.primary, [&](Line& primary_line) {
      layout_.change(at.bucket, [&](Line& line) {
        change(Displaced<Line>{origin.tag, origin.primary, primary_line, at, line});
      });
    });
  }

  // An entry has filled `at`; whether that is one more that is displaced.
  void arrive(SlotRef at, Origin origin, uint16_t timer, bool is_one_more) {
    set_timer(at, timer);
    if constexpr (KeepsFilter<Line>) {
      if (is_one_more) note_moved(origin, at);
    }
    if (layout_.is_stash(at.bucket)) {
      layout_.set_home(at, origin.primary);
      if constexpr (KeepsStashMark<Line>) mark_stashed(origin.primary, true);
      if (++stats().stashed == 1) Access::store(state_->has_stashed, 1);
    }
    stats().size += 1;
  }

  // Frees `at`; whether one less is displaced, if its entry is. `origin` is needed only then.
  void leave(SlotRef at, Origin origin, bool is_one_less) {
    const bool was_displaced = is_displaced(at);
    layout_.vacate(at);
    if constexpr (KeepsFilter<Line>) {
      if (was_displaced && is_one_less) forget_moved(origin, at);
    }
    if (layout_.is_stash(at.bucket)) {
      if constexpr (KeepsStashMark<Line>) {
        if (!this->has_stashed_of(origin.primary)) mark_stashed(origin.primary, false);
      }
      if (--stats().stashed == 0) Access::store(state_->has_stashed, 0);
    }
    stats().size -= 1;
  }

  void mark_stashed(BucketIndex primary, bool has_stashed) {
    layout_.change(primary, [has_stashed](Line& line) { line.has_stashed = has_stashed ? 1 : 0; });
  }

  // An entry came to another bucket than its primary one.
  void note_moved(Origin origin, SlotRef at)
    requires KeepsFilter<Line>
  {
    change_displaced(origin, at, [this](Displaced<Line> entry) {
      Probing::note(map_, entry);
      count_moved(entry.primary_line, 1);
    });
  }

  // An entry left another bucket than its primary one.
  void forget_moved(Origin origin, SlotRef at)
    requires KeepsFilter<Line>
  {
    uint64_t doubtful = 0;
    change_displaced(origin, at, [&](Displaced<Line> entry) {
      count_moved(entry.primary_line, -1);
      Probing::forget(entry);
      doubtful = Probing::doubtful_filter(entry.primary_line, entry.tag);
    });
    if (doubtful == 0) return;
    uint64_t needed = uint64_t{layout_.line(origin.primary).filter} & ~doubtful;
    this->for_each_displaced_from(origin.primary, doubtful, [&](SlotRef other, Tag tag) {
      needed |= Probing::needed_filter(layout_.line(other.bucket), other.slot, tag);
    });
    layout_.change(origin.primary, [needed](Line& line) { line.set_filter(needed); });
  }

  void count_moved(Line& line, int change)
    requires KeepsFilter<Line>
  {
    if (line.moved == Line::kMovedSaturated) return;
    --stats().moved_histogram[histogram_field(line.moved)];
    line.set_moved(static_cast<unsigned>(line.moved + change));
    ++stats().moved_histogram[histogram_field(line.moved)];
  }

  static unsigned histogram_field(unsigned moved) { return std::min(moved, kMovedHistogramMax); }

  using Places::access_;
  using Places::layout_;
  using Places::map_;
  using Places::state_;
};

}  // namespace roost
