// Where entries are: of an entry its bucket, tag and key, of a key the places that it may be in.
// Nothing here changes anything (see placement.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "roost/hash/bucket_map.h"
#include "roost/isa/kernel.h"
#include "roost/isa/prefetch.h"
#include "roost/table/layout.h"
#include "roost/table/probing.h"
#include "roost/table/slot_mask.h"
#include "roost/table/table_state.h"

namespace roost {

template <TableLayout LayoutT, ProbingPolicy<typename LayoutT::Line> ProbingT, class HashT>
class Places {
 public:
  using Layout = LayoutT;
  using Line = typename Layout::Line;
  using Probing = ProbingT;
  using Hash = HashT;
  using Access = typename Layout::Access;

  // `state` outlives it.
  Places(Layout layout, BucketMap map, const Hash& hash, TableState& state, Access access)
      : layout_(layout), map_(map), hash_(hash), access_(std::move(access)), state_(&state) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const BucketMap& map() const { return map_; }
  [[nodiscard]] const Hash& hash() const { return hash_; }
  [[nodiscard]] const Access& access() const { return access_; }

  // All buckets: those of the map, and the stash's.
  [[nodiscard]] uint64_t bucket_count() const { return layout_.bucket_counts().all(); }

  // The tag of the entry in `at`, and its padded key: in its slot, or a copy.
  [[nodiscard]] Tag tag(SlotRef at) const {
    return layout_.tag(layout_.line(at.bucket), at, hash_);
  }
  [[nodiscard]] auto padded_key(SlotRef at) const {
    return padded_key_in(layout_.line(at.bucket), at);
  }
  // The same, where `line` is its bucket's line or a copy.
  [[nodiscard]] auto padded_key_in(const Line& line, SlotRef at) const {
    if constexpr (StoresKeys<Layout>) {
      return layout_.padded_key(line, at);
    } else {
      return layout_.key_from(origin_in(line, at), hash_, map_);
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
    const Line& line = layout_.line_at(primary);
    prefetch(hint, &line);
    if constexpr (Probing::kVisitsBoth)
      prefetch(hint, &layout_.line_at(secondary(primary, line, layout_.tag_of(hash))));
  }

  // Calls try_bucket on the buckets of the stash until one returns true; false when none does.
  template <class TryBucket>
  bool for_each_stash_bucket(TryBucket&& try_bucket) const {
    for (uint64_t bucket = map_.bucket_count(); bucket < bucket_count(); ++bucket) {
      if (try_bucket(BucketIndex{bucket})) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_displaced(SlotRef at) const {
    return displaced_slots(layout_.line(at.bucket)).has(at.slot);
  }

  // The primary bucket of the entry in `at`, and its tag.
  [[nodiscard]] Origin origin_of(SlotRef at) const {
    return origin_in(layout_.line(at.bucket), at);
  }
  [[nodiscard]] Origin origin_in(const Line& line, SlotRef at) const {
    return layout_.origin(line, at, hash_, map_, [&](Tag tag) {
      if (!displaced_slots(line).has(at.slot)) return at.bucket;
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
          prefetch(PrefetchHint::kT0, &layout_.line_at(lead));
        });
    Probing::for_each_lead(map_, bucket, line, filter_bits, visit_in);
    if (!may_be_stashed(line)) return;
    for_each_stash_bucket([&](BucketIndex stash) {
      visit_in(stash);
      return false;
    });
  }

  // The timer of a slot; 0 where lines keep none.
  [[nodiscard]] uint16_t timer(SlotRef at) const {
    if constexpr (!KeepsTimers<Line>) {
      return 0;
    } else if constexpr (Access::kIsShared) {
      return Access::timer(layout_.line_at(at.bucket), at.slot).timer();
    } else {
      return layout_.line_at(at.bucket).timers[at.slot];
    }
  }

  // Whether the stash holds an entry of this primary bucket.
  [[nodiscard]] bool has_stashed_of(BucketIndex primary) const {
    return for_each_stash_bucket([&](BucketIndex bucket) {
      for (const unsigned slot : busy_slots(layout_.line(bucket))) {
        if (layout_.home({bucket, slot}) == primary) return true;
      }
      return false;
    });
  }

  // Finds a key among the slots that `considered(line)` names.
  template <Kernel K, class Considered>
  [[nodiscard]] bool locate_where(const std::byte* key, Hash64 hash, SlotRef& found,
                                  Considered&& considered) const {
    const Tag tag = layout_.tag_of(hash);
    const BucketIndex primary = map_.primary(hash);
    const auto is_in = [&](BucketIndex bucket, Residence residence) {
      const Line& line = layout_.line(bucket);
      const SlotMask slots =
          layout_.template candidates<K>(line, tag, key, residence) & considered(line);
      for (const unsigned slot : slots) {
        found = {bucket, slot};
        if (holds_key<K>(layout_, found, key, primary)) return true;
      }
      return false;
    };
    if (!may_hold(layout_, key)) return false;
    if (is_in(primary, Residence::kPrimary)) return true;
    const Line& line = layout_.line(primary);
    if (!may_be_displaced(line, tag)) return false;
    if (is_in(secondary(primary, line, tag), Residence::kDisplaced)) return true;
    if (!may_be_stashed(line)) return false;
    return for_each_stash_bucket(
        [&](BucketIndex bucket) { return is_in(bucket, Residence::kDisplaced); });
  }

 protected:
  Layout layout_;
  BucketMap map_;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Access access_;
  TableState* state_;
};

}  // namespace roost
