// What a layout is: where a table's bytes are. The algorithm (engine.h) asks it for lines, keys and
// values and knows nothing else of them.
//
//   SplitLayout    a line of tags a bucket, keys and values in an array beside the lines
//   InlineLayout   keys and values in the bucket's line
//
// A bucket's line is 64 bytes that say of each slot whether it is busy, displaced and live, and of
// the bucket what sits elsewhere. What all lines have by the same name: `busy` and `displaced` (a
// bit a slot), `timers`, `filter`, `moved` and `has_stashed`; see tag_line.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "roost/expiry/tick.h"
#include "roost/hash/bucket_map.h"
#include "roost/hash/hash64.h"
#include "roost/hash/keyed_hash.h"
#include "roost/isa/scalar.h"
#include "roost/table/slot_mask.h"

namespace roost {

// A slot of a bucket.
struct SlotRef {
  BucketIndex bucket;
  unsigned slot;

  friend bool operator==(SlotRef, SlotRef) = default;
};

// What an entry's places follow from.
struct Origin {
  BucketIndex primary;
  Tag tag;
};

// How many buckets a table has: those that hashes lead to, and the stash's behind.
struct BucketCounts {
  uint64_t hashed;
  uint64_t stash;
  [[nodiscard]] constexpr uint64_t all() const { return hashed + stash; }
};

// A bucket's line: no bit set in fresh memory, which is an empty bucket.
template <class L>
concept BucketLine =
    sizeof(L) == 64 && requires(const L& line, L& changed, Tag tag, unsigned n, SlotMask slots) {
      // Where the count of moved keys stays once it has got there.
      { L::kMovedSaturated } -> std::convertible_to<unsigned>;

      // The filter bits of a key whose primary bucket this is.
      { L::filter_bits(tag) } -> std::same_as<uint64_t>;

      // The fields, which may be bits of a word. A bit a slot: it holds an entry, live or expired;
      // the entry is not in its primary bucket.
      { unsigned{line.busy} };
      { unsigned{line.displaced} };
      // Entries displaced from here; the filter that leads to them; whether one is in
      // the stash.
      { unsigned{line.moved} };
      { uint64_t{line.filter} };
      { unsigned{line.has_stashed} };
      // A slot's last live tick, its low 16 bits.
      { line.timers[n] } -> std::convertible_to<uint16_t>;

      changed.set_busy(slots);
      changed.set_displaced(slots);
      changed.set_moved(n);
      changed.set_filter(uint64_t{n});
      changed.has_stashed = 1;
    };

// The slots of a line that hold an entry, live or expired; those whose entry is displaced.
template <BucketLine Line>
[[nodiscard]] constexpr SlotMask busy_slots(const Line& line) {
  return SlotMask{line.busy};
}
template <BucketLine Line>
[[nodiscard]] constexpr SlotMask displaced_slots(const Line& line) {
  return SlotMask{line.displaced};
}

template <class T>
concept TableLayout =
    BucketLine<typename T::Line> &&
    requires(const T& layout, T& changed, SlotRef at, BucketIndex bucket,
             const typename T::Line& line, Tag tag, Tick now, const KeyedHash& hash,
             const std::byte* bytes, std::byte* changed_bytes, BucketCounts counts,
             typename T::Entry entry, const BucketMap& map, BucketIndex (&primary_of)(Tag)) {
      // Slots of a bucket; the load up to which a table with a stash can promise
      // to accept entries, zero if it promises nothing.
      { T::kSlots } -> std::convertible_to<unsigned>;
      { T::kPromisedLoad } -> std::convertible_to<double>;

      // What reports call it.
      { T::kName } -> std::convertible_to<const char*>;

      // Bytes of a key as the table's functions take it: of a padded key.
      { T::kKeyBytes } -> std::convertible_to<size_t>;

      // Bytes of memory for so many buckets. The lines are its first bytes.
      { T::image_bytes(counts, entry) } -> std::same_as<uint64_t>;
      { layout.entry() } -> std::same_as<typename T::Entry>;
      { layout.bucket_counts() } -> std::same_as<BucketCounts>;
      { layout.is_stash(bucket) } -> std::same_as<bool>;
      { layout.line(bucket) } -> std::same_as<const typename T::Line&>;
      { changed.line(bucket) } -> std::same_as<typename T::Line&>;

      // The slots of a line that may hold a key, busy or not: by its tag, or by the
      // whole key.
      { layout.template candidates<ScalarKernel>(line, tag, bytes) } -> std::same_as<SlotMask>;

      // Whether a candidate is the key, so that the two need not be compared again.
      { T::kCandidatesAreExact } -> std::convertible_to<bool>;

      // Of the candidates, those whose timers are live; and all slots of a line whose timers are.
      {
        layout.template live_candidates<ScalarKernel>(line, tag, bytes, now)
      } -> std::same_as<SlotMask>;
      { layout.template live_timers<ScalarKernel>(line, now) } -> std::same_as<SlotMask>;

      // The tag of the entry in a slot: what the line keeps, or what its key's hash
      // says.
      { layout.tag(at, hash) } -> std::same_as<Tag>;
      changed.set_tag(at, tag);

      // Where the entry in a slot comes from: by its key, or as `primary_of(tag)` says.
      { layout.origin(at, hash, map, primary_of) } -> std::same_as<Origin>;

      // What a batch keeps of a candidate in a slot of a line, and where its value is.
      { layout.target(line, unsigned{0}) } -> std::same_as<const std::byte*>;
      { T::value_of_target(bytes) } -> std::same_as<const std::byte*>;

      // Key and value in a slot, the padded key (there, or a copy that stands for a pointer to
      // it), and the slot of a value.
      { layout.key(at) } -> std::same_as<const std::byte*>;
      { layout.padded_key(at) } -> std::convertible_to<const std::byte*>;
      { layout.value(at) } -> std::same_as<const std::byte*>;
      { layout.slot_of_value(bytes) } -> std::same_as<SlotRef>;
      layout.copy_value(changed_bytes, bytes);
      changed.write_entry(at, bytes, bytes);
      changed.copy_entry(at, at);

      // The primary bucket of the entry in a slot of the stash.
      { layout.home(at) } -> std::same_as<BucketIndex>;
      changed.set_home(at, bucket);
    };

}  // namespace roost
