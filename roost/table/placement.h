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
#include "roost/table/table_state.h"
#include "roost/table/table_stats.h"

namespace roost {

template <TableLayout LayoutT, ProbingPolicy<typename LayoutT::Line> ProbingT, class HashT>
class Placement {
 public:
  using Layout = LayoutT;
  using Line = typename Layout::Line;
  using Probing = ProbingT;
  using Hash = HashT;
  using Access = typename Layout::Access;

  // `state` outlives it.
  Placement(Layout layout, BucketMap map, const Hash& hash, TableState& state, Access access)
      : layout_(layout), map_(map), hash_(hash), access_(std::move(access)), state_(&state) {}

  // The accounts of an empty table.
  void begin() {
    stats().capacity = map_.bucket_count() * Layout::kSlots;
    stats().stash_slots = layout_.bucket_counts().stash * Layout::kSlots;
    if constexpr (KeepsFilter<Line>) stats().moved_histogram[0] = bucket_count();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const Hash& hash() const { return hash_; }
  [[nodiscard]] const Access& access() const { return access_; }
  [[nodiscard]] const TableStats& stats() const { return state_->stats; }
  [[nodiscard]] TableStats& stats() { return state_->stats; }

  // All buckets: those of the map, and the stash's.
  [[nodiscard]] uint64_t bucket_count() const { return layout_.bucket_counts().all(); }

  // The tag of the entry in `at`, and its padded key: in its slot, or a copy.
  [[nodiscard]] Tag tag(SlotRef at) const { return layout_.tag(at, hash_); }
  [[nodiscard]] auto padded_key(SlotRef at) const {
    if constexpr (StoresKeys<Layout>) {
      return layout_.padded_key(at);
    } else {
      return layout_.key_from(origin_of(at), hash_, map_);
    }
  }

  // Whether a key with this tag, whose primary bucket has this line, may sit in another bucket.
  [[nodiscard]] static bool may_be_displaced(const Line& line, Tag tag) {
    return Probing::may_be_displaced(line, tag);
  }

  // Whether a key that is in neither of its buckets may be in the stash. `line` is that of its
  // primary bucket; where lines have no mark, the table's count says it.
  [[nodiscard]] bool may_be_stashed(const Line& line) const {
    if constexpr (KeepsStashMark<Line>) {
      return line.has_stashed != 0;
    } else {
      return has_stashed();
    }
  }
  [[nodiscard]] bool has_stashed() const { return Access::load(state_->has_stashed) != 0; }

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
      prefetch(hint, &layout_.line(secondary(primary, line, layout_.tag_of(hash))));
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
    if constexpr (KeepsFilter<Line>) Probing::remind(displaced(origin_of(at), at));
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
    arrive(to, origin, timer(from), mark.is_displaced && !stays_displaced);
    leave(from, origin, !stays_displaced);
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
    if (!may_be_stashed(line)) return;
    for_each_stash_bucket([&](BucketIndex stash) {
      visit_in(stash);
      return false;
    });
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

  // The timer of a slot; 0 where lines keep none.
  [[nodiscard]] uint16_t timer(SlotRef at) const {
    if constexpr (KeepsTimers<Line>) {
      return layout_.line(at.bucket).timers[at.slot];
    } else {
      return 0;
    }
  }
  void set_timer(SlotRef at, uint16_t timer) {
    if constexpr (KeepsTimers<Line>) layout_.edit(at.bucket).timers[at.slot] = timer;
  }

 private:
  [[nodiscard]] static EntryMark mark_of(Origin origin, SlotRef at) {
    return {origin.tag, at.bucket != origin.primary};
  }

  // Makes a line as fresh memory is.
  void clear(BucketIndex bucket) {
    [[maybe_unused]] const auto step = access_.step(bucket);
    if constexpr (Access::kIsShared) {
      for (const unsigned slot : busy_slots(layout_.line(bucket))) layout_.vacate({bucket, slot});
    } else {
      layout_.edit(bucket) = Line{};
    }
  }

  // A line that is not as fresh memory is, but for what free slots still hold.
  [[nodiscard]] static bool is_in_use(const Line& line) {
    if constexpr (KeepsFilter<Line>) {
      return !busy_slots(line).empty() || line.moved != 0;
    } else {
      return !busy_slots(line).empty();
    }
  }

  [[nodiscard]] Displaced<Line> displaced(Origin origin, SlotRef at)
    requires KeepsFilter<Line>
  {
    return {origin.tag, origin.primary, layout_.edit(origin.primary), at, layout_.edit(at.bucket)};
  }

  // An entry has filled `at`; whether that is one more that is displaced.
  void arrive(SlotRef at, Origin origin, uint16_t timer, bool is_one_more) {
    set_timer(at, timer);
    if constexpr (KeepsFilter<Line>) {
      if (is_one_more) note_moved(displaced(origin, at));
    }
    if (layout_.is_stash(at.bucket)) {
      layout_.set_home(at, origin.primary);
      if constexpr (KeepsStashMark<Line>) layout_.edit(origin.primary).has_stashed = 1;
      if (++stats().stashed == 1) Access::store(state_->has_stashed, 1);
    }
    stats().size += 1;
  }

  // Frees `at`; whether one less is displaced, if its entry is. `origin` is needed only then.
  void leave(SlotRef at, Origin origin, bool is_one_less) {
    const bool was_displaced = is_displaced(at);
    layout_.vacate(at);
    if constexpr (KeepsFilter<Line>) {
      if (was_displaced && is_one_less) forget_moved(displaced(origin, at));
    }
    if (layout_.is_stash(at.bucket)) {
      if constexpr (KeepsStashMark<Line>) {
        if (!has_stashed(origin.primary)) layout_.edit(origin.primary).has_stashed = 0;
      }
      if (--stats().stashed == 0) Access::store(state_->has_stashed, 0);
    }
    stats().size -= 1;
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
  void note_moved(Displaced<Line> entry)
    requires KeepsFilter<Line>
  {
    Probing::note(map_, entry);
    count_moved(entry.primary_line, 1);
  }

  // An entry left another bucket than its primary one.
  void forget_moved(Displaced<Line> entry)
    requires KeepsFilter<Line>
  {
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

  void count_moved(Line& line, int change)
    requires KeepsFilter<Line>
  {
    if (line.moved == Line::kMovedSaturated) return;
    --stats().moved_histogram[histogram_field(line.moved)];
    line.set_moved(static_cast<unsigned>(line.moved + change));
    ++stats().moved_histogram[histogram_field(line.moved)];
  }

  static unsigned histogram_field(unsigned moved) { return std::min(moved, kMovedHistogramMax); }

  Layout layout_;
  BucketMap map_;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Access access_;
  TableState* state_;
};

}  // namespace roost
