// The bucket algorithm: where an entry may be, how it gets there, moves and leaves. It knows
// neither key nor value type, only bytes, hashes, tags, buckets and slots; what a key looks like is
// the layout's business.
//
// Idea (Cuckoo++): a key lives in one of eight slots of its primary bucket, else in one of its
// secondary bucket. An insert takes a vacant slot of the primary, else one that an entry leaves to
// go home, else a vacant slot of the secondary, else one that moves along a kick path free.
// Whenever an entry comes to its secondary bucket, the primary's filter and moved count record it;
// whenever it leaves, the count is decremented. An expired slot is as good as a free one: before it
// is overwritten, the expired entry is reclaimed, and the eviction callback called for it. Which
// bucket is the secondary one, and what the filter says of it, is up to the probing policy.
//
// A table that promises to hold a number of entries has a stash: a few buckets behind the others,
// for keys outside both of theirs. The line of such a key's primary bucket has a mark
// (`has_stashed`), so that only lookups that pass the filter of a marked line search the stash. An
// insert that finds the stash full first moves one of its entries home.
//
// Invariants, by the number that audit() reports:
//   I1  The size is the number of busy slots, and every displaced slot is busy.
//   I2  An entry sits in its primary bucket, or in its secondary one or the stash and is
//       marked displaced; from there the policy leads back to its primary bucket. Its tag, where
//       one is kept, is its hash's.
//   I3  No key is held twice.
//   I4  A bucket's moved count is the number of entries displaced from it, unless it is saturated.
//   I5  A bucket's filter leads to every entry displaced from it, as the policy keeps it. Filtered:
//       it has the bits of each, and no others if the line remembers all or there are none. Horton:
//       a field is the function of all the entries with its remap tag, zero without any.
//   I6  The moved-count histogram is that of the buckets.
//   I7  created == size + erased + expired.
//   I8  A bucket's line is marked (has_stashed) when some of its entries are in the stash, and only
//       then; the home of each is its primary bucket.
//
// One thread at a time (CPP-17). Nothing here allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "roost/expiry/slot_timers.h"
#include "roost/hash/bucket_map.h"
#include "roost/isa/kernel.h"
#include "roost/table/insert_outcome.h"
#include "roost/table/kick_path.h"
#include "roost/table/layout.h"
#include "roost/table/overflow_scan.h"
#include "roost/table/placement.h"
#include "roost/table/room_maker.h"
#include "roost/table/settling.h"
#include "roost/table/slot_mask.h"
#include "roost/table/table_state.h"
#include "roost/table/table_stats.h"

namespace roost {

template <TableLayout LayoutT, class Expiry, ProbingPolicy<typename LayoutT::Line> ProbingT,
          class HashT, class EvictionCallback>
class Engine {
 public:
  using Layout = LayoutT;
  using Line = typename Layout::Line;
  using Probing = ProbingT;
  using Hash = HashT;
  static constexpr bool kExpires = Expiry::kEnabled;
  static_assert(!kExpires || TimedLayout<Layout>, "this layout's lines keep no timers");

  // `eviction_callback(key bytes, value bytes)` is called for each expired entry. `state` outlives
  // the engine; that of an empty table is begun by it.
  Engine(Layout layout, BucketMap map, const Hash& hash, TableState& state,
         typename Layout::Access access, EvictionCallback eviction_callback)
      : placement_(layout, map, hash, state, std::move(access)),
        eviction_callback_(std::move(eviction_callback)),
        now_(state.now),
        state_(&state) {
    if (stats().capacity == 0) placement_.begin();
  }

  [[nodiscard]] const Layout& layout() const { return placement_.layout(); }
  [[nodiscard]] Layout& layout() { return placement_.layout(); }
  [[nodiscard]] const BucketMap& map() const { return placement_.map(); }
  [[nodiscard]] const Placement<Layout, Probing, Hash>& placement() const { return placement_; }
  [[nodiscard]] Placement<Layout, Probing, Hash>& placement() { return placement_; }
  [[nodiscard]] const TableStats& stats() const { return placement_.stats(); }
  [[nodiscard]] TableStats& stats() { return placement_.stats(); }
  [[nodiscard]] const OverflowScan& scan() const { return state_->scan; }
  [[nodiscard]] bool is_live(uint16_t timer) const { return Expiry::is_live(timer, now()); }
  [[nodiscard]] Tick now() const { return {Layout::Access::load(now_.count)}; }

  // Slots of `line` whose entry is live.
  template <Kernel K>
  [[nodiscard]] SlotMask live_slots(const Line& line) const {
    if constexpr (Expiry::kEnabled) {
      return busy_slots(line) & layout().template live_timers<K>(line, now());
    } else {
      return busy_slots(line);
    }
  }

  // Slots of `line` that hold a live entry which may be the key's. All of them must be tried,
  // unless the layout's candidates are exact.
  template <Kernel K>
  [[nodiscard]] SlotMask candidates(const Line& line, Tag tag, const std::byte* key,
                                    Residence residence) const {
    if constexpr (Expiry::kEnabled) {
      return busy_slots(line) &
             layout().template live_candidates<K>(line, tag, key, residence, now());
    } else if constexpr (Layout::kCandidatesAreBusy) {
      return layout().template candidates<K>(line, tag, key, residence);
    } else {
      return busy_slots(line) & layout().template candidates<K>(line, tag, key, residence);
    }
  }

  // Slots that an insert may write: the free ones, else the expired ones.
  template <Kernel K>
  [[nodiscard]] SlotMask vacancies(const Line& line) const {
    const SlotMask free = SlotMask::below(Layout::kSlots) - busy_slots(line);
    return free.empty() ? busy_slots(line) - live_slots<K>(line) : free;
  }

  // Frees a vacant slot: an expired entry in it is reclaimed. False when a reader has given that
  // one a new time to live meanwhile.
  [[nodiscard]] bool take(SlotRef at) {
    if (!busy_slots(layout().line(at.bucket)).has(at.slot)) return true;
    if (!reclaim(at)) return false;
    ++stats().expired_overwritten;
    return true;
  }

  // Takes the first vacant slot of a bucket; false when there is none.
  template <Kernel K>
  [[nodiscard]] bool take_vacancy(BucketIndex bucket, SlotRef& at) {
    for (;;) {
      const SlotMask vacant = vacancies<K>(layout().line(bucket));
      if (vacant.empty()) return false;
      at = {bucket, vacant.lowest()};
      if (take(at)) return true;
    }
  }

  template <Kernel K>  // finds the live entry of a key
  [[nodiscard]] bool locate(const std::byte* key, Hash64 hash, SlotRef& found) const {
    return placement_.template locate_where<K>(
        key, hash, found, [this](const Line& line) { return live_slots<K>(line); });
  }

  // Inserts a key, or does what `if_existing` says. On kExisting, *value is overwritten by what the
  // table holds.
  template <Kernel K>
  InsertOutcome insert(const std::byte* key, Hash64 hash, std::byte* value, TickCount timeout,
                       IfExisting if_existing) {
    const uint16_t timer = timer_of(timeout);
    if (!may_hold(layout(), key)) return InsertOutcome::kWideKey;
    SlotRef at{};
    // Expired entries are searched too: a second entry of the same key would come to light when
    // this one expires.
    if (!placement_.template locate_where<K>(key, hash, at,
                                             [](const Line& line) { return busy_slots(line); })) {
      return insert_new<K>(key, hash, value, timer);
    }
    const bool is_live =
        live_slots<K>(std::as_const(layout()).line(at.bucket)).has(at.slot) || !expire(at);
    if (is_live && if_existing == IfExisting::kKeep) {
      layout().copy_value(value, layout().value(at));
      return InsertOutcome::kExisting;
    }
    if (!is_live) {
      ++stats().expired_overwritten;
      ++stats().created;
      ++stats().path_lengths[0];
    }
    placement_.write_value(at, value);
    placement_.set_timer(at, timer);
    return is_live ? InsertOutcome::kUpdated : InsertOutcome::kInserted;
  }

  // Removes a live entry; false when there is none.
  template <Kernel K>
  bool erase(const std::byte* key, Hash64 hash) {
    SlotRef at{};
    if (!locate<K>(key, hash, at)) return false;
    placement_.vacate(at);
    ++stats().erased;
    state_->settling.depart(map().bucket_count());
    return true;
  }

  // Gives the entry in `at` a new time to live, counted from now.
  void refresh(SlotRef at, TickCount timeout) { placement_.set_timer(at, timer_of(timeout)); }

  // The same, by a reader that saw this timer; false when it is another one by now.
  template <class SeenTimer>
  [[nodiscard]] bool refresh_seen(SlotRef at, SeenTimer seen, TickCount timeout) const {
    if constexpr (Expiry::kEnabled) {
      return Layout::Access::replace_timer(layout().line_at(at.bucket), at.slot, seen,
                                           timer_of(timeout));
    } else {
      return true;
    }
  }

  // Ticks that a live entry has left.
  [[nodiscard]] TickCount ticks_left(SlotRef at) const {
    return Expiry::ticks_left(placement_.timer(at), now());
  }

  // Drops every entry without calling the eviction callback.
  void clear() {
    placement_.clear();
    state_->scan.restart(now());
    state_->settling = {};
  }

  // Moves time forward. See FlowTable::advance.
  AdvanceOutcome advance(Tick now) {
    if (now < now_) return AdvanceOutcome::kBackwards;
    state_->now = now;
    Layout::Access::store(now_.count, now.count);
    if (stats().size == 0) state_->scan.restart(now);
    return Expiry::kEnabled && now > scan().deadline() ? AdvanceOutcome::kScanOverdue
                                                       : AdvanceOutcome::kAdvanced;
  }

  // Visits the next buckets of the overflow scan and reclaims expired entries there. See
  // FlowTable::maintain.
  template <Kernel K>
  uint64_t maintain(uint64_t bucket_budget) {
    if constexpr (!Expiry::kEnabled) return 0;
    const uint64_t before = stats().expired;
    for (uint64_t left = std::min(bucket_budget, placement_.bucket_count()); left > 0; --left) {
      const BucketIndex bucket = state_->scan.next(now(), placement_.bucket_count());
      const Line& line = layout().line(bucket);
      for (const unsigned slot : busy_slots(line) - live_slots<K>(line))
        static_cast<void>(reclaim({bucket, slot}));
    }
    return stats().expired - before;
  }

  // The timer of an entry with so much time from now.
  [[nodiscard]] uint16_t timer_of(TickCount timeout) const {
    if constexpr (Expiry::kEnabled) return Expiry::timer(now(), timeout);
    return 0;
  }

 private:
  template <Kernel K>
  InsertOutcome insert_new(const std::byte* key, Hash64 hash, const std::byte* value,
                           uint16_t timer) {
    const Tag tag = layout().tag_of(hash);
    const BucketIndex primary = map().primary(hash);
    const uint64_t kicks_before = stats().kicks;
    SlotRef at{};
    if (!find_room<K>(primary, tag, at)) {
      ++stats().refusals;
      return InsertOutcome::kFull;
    }
    placement_.insert_entry(at, {primary, tag}, key, value, timer);
    ++stats().created;
    ++stats().path_lengths[std::min<uint64_t>(stats().kicks - kicks_before, kPathLengthFieldMax)];
    if (state_->settling.is_due() || stats().stashed != 0) settle<K>();
    return InsertOutcome::kInserted;
  }

  // A free slot for a new key: a vacant one, else one that moves free.
  template <Kernel K>
  [[nodiscard]] bool find_room(BucketIndex primary, Tag tag, SlotRef& at) {
    if (take_vacancy<K>(primary, at)) return true;
    RoomMaker<Engine, K> rooms(*this);
    // Else entries are displaced because there is no room at home.
    if (state_->settling.is_due() && !displaced_slots(layout().line(primary)).empty() &&
        rooms.by_sending_home(primary, at)) {
      return true;
    }
    while (find_secondary_vacancy<K>(primary, tag, at)) {
      if (take(at)) return true;
    }
    const Search search = search_needed();
    if (rooms.by_kicking(primary, tag, search, at) || rooms.in_stash(search, at)) return true;
    state_->departures_at_refusal = state_->departures();
    return false;
  }

  // A vacant slot of the least loaded bucket that a key may be displaced to; false when all are
  // full.
  template <Kernel K>
  [[nodiscard]] bool find_secondary_vacancy(BucketIndex primary, Tag tag, SlotRef& at) const {
    unsigned load_min = Layout::kSlots;
    placement_.for_each_secondary(primary, tag, [&](BucketIndex bucket) {
      const Line& line = layout().line(bucket);
      const unsigned load = live_slots<K>(line).count();
      if (load >= load_min) return;
      load_min = load;
      at = {bucket, vacancies<K>(line).lowest()};
    });
    return load_min != Layout::kSlots;
  }

  // A search after one in vain is short until an entry has left. Below the load that the layout
  // can promise, where no refusal is expected, every search is long.
  [[nodiscard]] Search search_needed() const {
    const double promised = Layout::kPromisedLoad * static_cast<double>(stats().capacity);
    return state_->departures() == state_->departures_at_refusal &&
                   static_cast<double>(stats().size) >= promised
               ? Search::kShort
               : Search::kLong;
  }

  // Frees the slot of an expired entry, unless a reader gave it a new time to live.
  [[nodiscard]] bool reclaim(SlotRef at) {
    if (!expire(at)) return false;
    placement_.vacate(at);
    state_->settling.depart(map().bucket_count());
    return true;
  }

  // Brings entries home, of the next buckets and of the next slot of the stash.
  template <Kernel K>
  [[gnu::noinline]] void settle() {
    RoomMaker<Engine, K> rooms(*this);
    Settling& settling = state_->settling;
    if (stats().stashed != 0) rooms.relieve_stash(settling.next_stash_slot());
    for (unsigned n = 0; n < kSettledByInsert && settling.is_due(); ++n)
      rooms.bring_home(settling.next(map().bucket_count()));
  }

  // Counts an expired entry and calls the eviction callback for it. From here on no reader gives it
  // a new time to live; false when one was faster.
  [[nodiscard]] bool expire(SlotRef at) {
    if constexpr (Expiry::kEnabled && Layout::Access::kIsShared) {
      const Line& line = std::as_const(layout()).line_at(at.bucket);
      const auto seen = Layout::Access::timer(line, at.slot);
      if (is_live(seen.timer()) ||
          !Layout::Access::replace_timer(line, at.slot, seen,
                                         Expiry::never_live(seen.timer(), now()))) {
        return false;
      }
    }
    ++stats().expired;
    eviction_callback_(placement_.padded_key(at), std::as_const(placement_).layout().value(at));
    return true;
  }

  Placement<Layout, Probing, Hash> placement_;
  [[no_unique_address]] EvictionCallback eviction_callback_;
  Tick now_;
  TableState* state_;
};

}  // namespace roost
