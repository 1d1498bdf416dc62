// The bucket algorithm: where an entry may be, how it gets there, moves and leaves. It knows
// neither key nor value type, only bytes, hashes, tags, buckets and slots; what a key looks like is
// the layout's business.
//
// Idea (Cuckoo++): a key lives in one of eight slots of its primary bucket, else in one of its
// secondary bucket. An insert takes a vacant slot of the primary, else of the secondary, else makes
// one by moving entries along a kick path. Whenever an entry comes to sit in its secondary bucket,
// the primary's filter and moved count learn of it; whenever it leaves, the count forgets it. An
// expired slot is as good as a free one: who writes over it hands the dead entry to the sink first.
//
// Invariants, by the number that audit() reports:
//   I1  The size is the number of busy slots, and every displaced slot is busy.
//   I2  An entry sits in its primary bucket, or in its secondary one and is marked displaced; its
//   tag is its hash's. I3  No key is held twice. I4  A bucket's moved count is the number of
//   entries displaced from it, unless it is saturated. I5  A bucket's filter has both bits of every
//   entry displaced from it; it is zero when the moved count is. I6  The moved-count histogram is
//   that of the buckets. I7  created == size + erased + handed over.
//
// One thread at a time (CPP-17). Nothing here allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "roost/expiry/slot_timers.h"
#include "roost/hash/bucket_map.h"
#include "roost/isa/kernel.h"
#include "roost/table/kick_path.h"
#include "roost/table/overflow_scan.h"
#include "roost/table/split_layout.h"
#include "roost/table/table_stats.h"
#include "roost/table/tag_line.h"

namespace roost {

// What became of one insert or upsert.
enum class InsertOutcome : uint8_t {
  kInserted,  // a new entry was made
  kUpdated,   // insert: the key was there and has the new value and timeout
  kExisting,  // upsert: the key was there and is unchanged
  kFull,      // no place for it; the table is as it was
};

// What an insert does with a key that is there.
enum class IfExisting : uint8_t { kOverwrite, kKeep };

template <class LayoutT, class Expiry, class Filter, class Sink>
class Engine {
 public:
  using Layout = LayoutT;
  static constexpr bool kHasFilter = Filter::kEnabled;
  static constexpr bool kExpires = Expiry::kEnabled;

  // `sink(key bytes, value bytes)` is called for each entry that died by expiry.
  Engine(Layout layout, BucketMap map, Sink sink)
      : layout_(layout), map_(map), sink_(std::move(sink)) {
    stats_.capacity = map.bucket_count() * kSlotsPerBucket;
    stats_.moved_histogram[0] = map.bucket_count();
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] Layout& layout() { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const TableStats& stats() const { return stats_; }
  [[nodiscard]] const OverflowScan& scan() const { return scan_; }
  [[nodiscard]] Tick now() const { return now_; }

  // Slots of `line` whose entry is live.
  template <Kernel K>
  [[nodiscard]] unsigned live_slots(const TagLine& line) const {
    if constexpr (Expiry::kEnabled) {
      return line.busy & K::match_live(line.timers, static_cast<uint16_t>(now_.count));
    } else {
      return line.busy;
    }
  }

  // Slots of `line` that hold a live entry with this tag: where the key may be. All of them must be
  // tried.
  template <Kernel K>
  [[nodiscard]] unsigned candidates(const TagLine& line, Tag tag) const {
    return K::match_tags(line.tags, static_cast<uint16_t>(tag)) & live_slots<K>(line);
  }

  // Whether a key with this tag, whose primary bucket has this line, may sit in its secondary
  // bucket.
  [[nodiscard]] static bool may_be_displaced(const TagLine& line, Tag tag) {
    if constexpr (!Filter::kEnabled) return true;
    const uint64_t bits = filter_bits(tag);
    return (line.filter & bits) == bits;
  }

  // Finds the live entry of a key; false when there is none.
  template <Kernel K>
  [[nodiscard]] bool locate(const std::byte* key, Hash64 hash, SlotRef& found) const {
    return locate_where<K>(key, hash, found,
                           [this](const TagLine& line) { return live_slots<K>(line); });
  }

  // Inserts a key, or does what `if_existing` says. On kExisting, *value is overwritten by what the
  // table holds.
  template <Kernel K>
  InsertOutcome insert(const std::byte* key, Hash64 hash, std::byte* value, TickCount timeout,
                       IfExisting if_existing) {
    const uint16_t timer = timer_of(timeout);
    SlotRef at{};
    // Expired entries are searched too: a second entry of the same key would come to light when
    // this one dies.
    if (!locate_where<K>(key, hash, at, [](const TagLine& line) { return unsigned{line.busy}; })) {
      return insert_new<K>(key, hash, value, timer);
    }
    TagLine& line = layout_.line(at.bucket);
    const bool is_live = ((live_slots<K>(line) >> at.slot) & 1) != 0;
    if (is_live && if_existing == IfExisting::kKeep) {
      layout_.copy_value(value, layout_.value(at));
      return InsertOutcome::kExisting;
    }
    if (!is_live) {
      hand_over(at);
      ++stats_.expired_overwritten;
      ++stats_.created;
      ++stats_.path_lengths[0];
    }
    layout_.copy_value(layout_.value(at), value);
    line.timers[at.slot] = timer;
    return is_live ? InsertOutcome::kUpdated : InsertOutcome::kInserted;
  }

  // Removes a live entry; false when there is none.
  template <Kernel K>
  bool erase(const std::byte* key, Hash64 hash) {
    SlotRef at{};
    if (!locate<K>(key, hash, at)) return false;
    vacate(at);
    ++stats_.erased;
    return true;
  }

  // Gives the entry in `at` a new time to live, counted from now.
  void refresh(SlotRef at, TickCount timeout) {
    layout_.line(at.bucket).timers[at.slot] = timer_of(timeout);
  }

  // Drops every entry without handing any over. Lines that are zero are not written, so that memory
  // that was never touched stays untouched.
  void clear() {
    for (uint64_t bucket = 0; bucket < map_.bucket_count(); ++bucket) {
      TagLine& line = layout_.line(BucketIndex{bucket});
      if (line.busy != 0 || line.moved != 0) line = TagLine{};
    }
    stats_.erased += std::exchange(stats_.size, 0);
    stats_.moved_histogram.fill(0);
    stats_.moved_histogram[0] = map_.bucket_count();
    scan_.restart(now_);
  }

  // Moves time forward. See FlowTable::advance.
  AdvanceOutcome advance(Tick now) {
    if (now < now_) return AdvanceOutcome::kBackwards;
    now_ = now;
    if (stats_.size == 0) scan_.restart(now);
    return Expiry::kEnabled && now > scan_.deadline() ? AdvanceOutcome::kScanOverdue
                                                      : AdvanceOutcome::kAdvanced;
  }

  // Visits the next buckets of the overflow scan and hands over what expired there. See
  // FlowTable::maintain.
  template <Kernel K>
  uint64_t maintain(uint64_t bucket_budget) {
    if constexpr (!Expiry::kEnabled) return 0;
    const uint64_t before = stats_.handed_over;
    for (uint64_t left = std::min(bucket_budget, map_.bucket_count()); left > 0; --left) {
      const BucketIndex bucket = scan_.next(now_, map_.bucket_count());
      const TagLine& line = layout_.line(bucket);
      for (unsigned dead = line.busy & ~live_slots<K>(line); dead != 0; dead &= dead - 1) {
        bury({bucket, static_cast<unsigned>(std::countr_zero(dead))});
      }
    }
    return stats_.handed_over - before;
  }

 private:
  friend struct TableInspector;  // tests break invariants by hand through it

  [[nodiscard]] uint16_t timer_of(TickCount timeout) const {
    if constexpr (Expiry::kEnabled) return Expiry::timer(now_, timeout);
    return 0;
  }

  // Finds a key among the slots that `considered(line)` names.
  template <Kernel K, class Considered>
  [[nodiscard]] bool locate_where(const std::byte* key, Hash64 hash, SlotRef& found,
                                  Considered&& considered) const {
    const Tag tag = tag_of(hash);
    const BucketIndex primary = map_.primary(hash);
    const auto is_in = [&](BucketIndex bucket) {
      const TagLine& line = layout_.line(bucket);
      unsigned slots = K::match_tags(line.tags, static_cast<uint16_t>(tag)) & considered(line);
      for (; slots != 0; slots &= slots - 1) {
        found = {bucket, static_cast<unsigned>(std::countr_zero(slots))};
        if (K::template equal_keys<Layout::kKeyBytes>(layout_.key(found), key)) return true;
      }
      return false;
    };
    if (is_in(primary)) return true;
    return may_be_displaced(layout_.line(primary), tag) && is_in(map_.other(primary, tag));
  }

  // Slots that an insert may write: the free ones, else the expired ones.
  template <Kernel K>
  [[nodiscard]] unsigned vacancies(const TagLine& line) const {
    const unsigned free = ~unsigned{line.busy} & 0xFF;
    return free != 0 ? free : line.busy & ~live_slots<K>(line);
  }

  template <Kernel K>
  InsertOutcome insert_new(const std::byte* key, Hash64 hash, const std::byte* value,
                           uint16_t timer) {
    const Tag tag = tag_of(hash);
    const BucketIndex primary = map_.primary(hash);
    const BucketIndex secondary = map_.other(primary, tag);
    SlotRef at{};
    if (const unsigned vacant = vacancies<K>(layout_.line(primary)); vacant != 0) {
      at = take({primary, static_cast<unsigned>(std::countr_zero(vacant))});
      ++stats_.path_lengths[0];
    } else if (const unsigned other = vacancies<K>(layout_.line(secondary)); other != 0) {
      at = take({secondary, static_cast<unsigned>(std::countr_zero(other))});
      ++stats_.path_lengths[0];
    } else if (!make_room<K>(primary, secondary, at)) {
      ++stats_.refusals;
      return InsertOutcome::kFull;
    }
    layout_.write_entry(at, key, value);
    occupy(at, tag, timer, at.bucket == secondary);
    ++stats_.created;
    return InsertOutcome::kInserted;
  }

  // Frees a slot of one of two full buckets by moving entries along a kick path, deepest first, so
  // that every entry is in one of its buckets at every step.
  template <Kernel K>
  [[gnu::noinline, gnu::cold]] bool make_room(BucketIndex primary, BucketIndex secondary,
                                              SlotRef& room) {
    KickPath path;
    const auto vacant = [this](const TagLine& line) { return vacancies<K>(line); };
    if (!find_kick_path(layout_, map_, primary, secondary, vacant, path)) return false;
    take(path.steps[path.move_count]);
    for (unsigned move = path.move_count; move > 0; --move)
      move_entry(path.steps[move - 1], path.steps[move]);
    stats_.kicks += path.move_count;
    ++stats_.path_lengths[path.move_count];
    room = path.steps[0];
    return true;
  }

  // Makes a vacant slot free: an expired entry in it is handed over.
  SlotRef take(SlotRef at) {
    if (((layout_.line(at.bucket).busy >> at.slot) & 1) != 0) {
      bury(at);
      ++stats_.expired_overwritten;
    }
    return at;
  }

  void bury(SlotRef at) {
    hand_over(at);
    vacate(at);
  }

  void hand_over(SlotRef at) {
    ++stats_.handed_over;
    sink_(std::as_const(layout_).key(at), std::as_const(layout_).value(at));
  }

  void move_entry(SlotRef from, SlotRef to) {
    const TagLine& line = layout_.line(from.bucket);
    const Tag tag{line.tags[from.slot]};
    const uint16_t timer = line.timers[from.slot];
    const bool was_displaced = ((line.displaced >> from.slot) & 1) != 0;
    layout_.copy_entry(from, to);
    vacate(from);
    occupy(to, tag, timer, !was_displaced);
  }

  void occupy(SlotRef at, Tag tag, uint16_t timer, bool is_displaced) {
    TagLine& line = layout_.line(at.bucket);
    const auto bit = static_cast<uint8_t>(1U << at.slot);
    line.tags[at.slot] = static_cast<uint16_t>(tag);
    line.timers[at.slot] = timer;
    line.busy |= bit;
    if (is_displaced) {
      line.displaced |= bit;
      note_moved(map_.other(at.bucket, tag), tag);
    }
    stats_.size += 1;
  }

  void vacate(SlotRef at) {
    TagLine& line = layout_.line(at.bucket);
    const auto bit = static_cast<uint8_t>(1U << at.slot);
    line.busy = static_cast<uint8_t>(line.busy & ~bit);
    if ((line.displaced & bit) != 0) {
      line.displaced = static_cast<uint8_t>(line.displaced & ~bit);
      const Tag tag{line.tags[at.slot]};
      forget_moved(map_.other(at.bucket, tag));
    }
    stats_.size -= 1;
  }

  // An entry with this tag, whose primary bucket is `primary`, came to its secondary bucket.
  void note_moved(BucketIndex primary, Tag tag) {
    TagLine& line = layout_.line(primary);
    if constexpr (Filter::kEnabled) line.filter |= filter_bits(tag);
    if (line.moved == kMovedSaturated) return;
    --stats_.moved_histogram[histogram_field(line.moved)];
    ++stats_.moved_histogram[histogram_field(++line.moved)];
  }

  // An entry left its secondary bucket.
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
  [[no_unique_address]] Sink sink_;
  Tick now_;
  OverflowScan scan_;
  TableStats stats_;
};

}  // namespace roost
