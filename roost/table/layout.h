// What a layout is: where a table's bytes are. The algorithm (engine.h) asks it for lines, keys and
// values and knows nothing else of them.
//
//   SplitLayout    a line of tags a bucket, keys and values in an array beside the lines
//   InlineLayout   keys and values in the bucket's line
//   PackedLayout   a word a slot, in which the key is what the bucket does not say of its hash
//
// A bucket's line is 64 bytes that say of each slot whether it is busy and displaced. What else a
// line keeps, it has by the same name as the others that keep it: timers, a filter of what was
// displaced from the bucket, a mark of what is in the stash (see tag_line.h). The algorithm asks
// for each by a concept; what a line does not keep is worked out otherwise, or is not there.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "roost/expiry/tick.h"
#include "roost/hash/bucket_map.h"
#include "roost/hash/hash64.h"
#include "roost/hash/keyed_hash.h"
#include "roost/isa/kernel.h"
#include "roost/isa/scalar.h"
#include "roost/table/access.h"
#include "roost/table/bucket_line.h"
#include "roost/table/bucket_lines.h"
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

// What is said of an entry beside key and value: its tag, and that it is not in its primary bucket.
struct EntryMark {
  Tag tag;
  bool is_displaced;
};

// Whether a bucket is a key's primary one, or one that it is displaced to.
enum class Residence : uint8_t { kPrimary, kDisplaced };

// What is known of a layout before there is a table.
template <class T>
concept LayoutConstants =
    TableAccess<typename T::Access, typename T::Line> && requires(typename T::Entry entry) {
      // Slots of a bucket; the load up to which a table with a stash can promise
      // to accept entries, zero if it promises nothing.
      { T::kSlots } -> std::convertible_to<unsigned>;
      { T::kPromisedLoad } -> std::convertible_to<double>;

      // What reports call it.
      { T::kName } -> std::convertible_to<const char*>;

      // How many bits tell keys apart, and bytes a value has, of entries of this shape.
      { T::key_bits(entry) } -> std::same_as<unsigned>;
      { entry.value_bytes() } -> std::same_as<size_t>;

      // Bytes of a key as the table's functions take it: of a padded key.
      { T::kKeyBytes } -> std::convertible_to<size_t>;

      // Bits of a tag.
      { T::kTagBits } -> std::convertible_to<int>;

      // Whether a candidate is the key, so that the two need not be compared again.
      { T::kCandidatesAreExact } -> std::convertible_to<bool>;

      // Whether a candidate's slot is busy, which else its line says.
      { T::kCandidatesAreBusy } -> std::convertible_to<bool>;
    };

template <class T>
concept TableLayout = BucketLine<typename T::Line> && LayoutConstants<T> &&
                      requires(const T& layout, T& changed, SlotRef at, BucketIndex bucket,
                               const typename T::Line& line, Tag tag, Hash64 hashed,
                               Residence residence, EntryMark mark, const KeyedHash& hash,
                               const std::byte* bytes, std::byte* changed_bytes,
                               BucketCounts counts, typename T::Entry entry, const BucketMap& map,
                               BucketIndex (&primary_of)(Tag), void (&change)(typename T::Line&)) {
                        // Bytes of memory for so many buckets, aligned to 64. The lines are its
                        // first bytes.
                        { T::image_bytes(counts, entry) } -> std::same_as<uint64_t>;
                        { layout.entry() } -> std::same_as<typename T::Entry>;
                        { layout.bucket_counts() } -> std::same_as<BucketCounts>;
                        { layout.is_stash(bucket) } -> std::same_as<bool>;
                        { layout.line(bucket) } -> std::convertible_to<const typename T::Line&>;
                        { layout.line_at(bucket) } -> std::same_as<const typename T::Line&>;
                        changed.change(bucket, change);

                        // What a line keeps of a hash.
                        { layout.tag_of(hashed) } -> std::same_as<Tag>;

                        // The slots of a line that may hold a key, busy or not: by its tag, or by
                        // the whole key. The bucket is the key's primary one, or another.
                        {
                          layout.template candidates<ScalarKernel>(line, tag, bytes, residence)
                        } -> std::same_as<SlotMask>;

                        // The tag of the entry in a slot of a bucket with this line: what the line
                        // keeps, or what its key's hash says.
                        { layout.tag(line, at, hash) } -> std::same_as<Tag>;

                        // Where the entry in a slot comes from: by its key, or as `primary_of(tag)`
                        // says.
                        { layout.origin(line, at, hash, map, primary_of) } -> std::same_as<Origin>;

                        // What a batch keeps of a candidate in a slot of a line, and where its
                        // value is.
                        { layout.target(line, unsigned{0}) } -> std::same_as<const std::byte*>;
                        { T::value_of_target(bytes) } -> std::same_as<const std::byte*>;

                        // The value in a slot, and the slot of a value.
                        { layout.value(at) } -> std::same_as<const std::byte*>;
                        { layout.slot_of_value(bytes) } -> std::same_as<SlotRef>;
                        layout.copy_value(changed_bytes, bytes);

                        // Fills a free slot: with key and value, or with those of another slot.
                        // Frees a slot, of which nothing is read any more but what probing policies
                        // ask for.
                        changed.place(at, mark, bytes, bytes);
                        changed.place_copy(at, mark, at);
                        changed.vacate(at);
                        changed.write_value(at, bytes);

                        // The primary bucket of the entry in a slot of the stash.
                        { layout.home(at) } -> std::same_as<BucketIndex>;
                        changed.set_home(at, bucket);
                      };

// A layout with timers: of the candidates, those that are live; and all slots of a line that are.
template <class T>
concept TimedLayout =
    TableLayout<T> && KeepsTimers<typename T::Line> &&
    requires(const T& layout, const typename T::Line& line, Tag tag, const std::byte* key,
             Residence residence, Tick now) {
      {
        layout.template live_candidates<ScalarKernel>(line, tag, key, residence, now)
      } -> std::same_as<SlotMask>;
      { layout.template live_timers<ScalarKernel>(line, now) } -> std::same_as<SlotMask>;
    };

// A layout that has the padded key of an entry: in its slot, or as a copy that stands for a pointer
// to it.
template <class T>
concept StoresKeys =
    TableLayout<T> && requires(const T& layout, const typename T::Line& line, SlotRef at) {
      { layout.padded_key(line, at) } -> std::convertible_to<const std::byte*>;
    };

// Whether a table with this layout may hold a padded key: none that has bits beyond its keys'.
template <TableLayout Layout>
[[nodiscard]] bool may_hold(const Layout& layout, const std::byte* key) {
  if constexpr (requires { layout.fits(key); }) return layout.fits(key);
  return true;
}

// Whether a candidate for a key with this primary bucket holds it.
template <Kernel K, TableLayout Layout>
[[nodiscard]] bool holds_key(const Layout& layout, SlotRef candidate, const std::byte* key,
                             BucketIndex primary) {
  if constexpr (!Layout::kCandidatesAreExact) {
    return K::template equal_keys<Layout::kKeyBytes>(layout.key(candidate), key);
  } else if constexpr (StoresKeys<Layout>) {
    return true;
  } else {  // what is the key's in its own buckets may be another one's in the stash
    return !layout.is_stash(candidate.bucket) || layout.home(candidate) == primary;
  }
}

}  // namespace roost
