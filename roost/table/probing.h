// Probing policies: where beside its primary bucket a key may be, and what its primary bucket's
// line tells of that. The rest of the algorithm is engine.h's, and the same for all of them.
//
// FilteredProbing is what users want (Cuckoo++). The others are the tables that its paper compares
// it with, on the same lines and slots; the library compiles none of them, tests and lab do:
//
//   FilteredProbing     goes to the secondary bucket when the filter lets it (CPP-22)
//   OptimisticProbing   goes there whenever the primary bucket does not have the key (CPP-21)
//   PessimisticProbing  asks for both buckets at once and looks at both (CPP-20)
//   HortonProbing       has seven secondary buckets to choose from (horton_probing.h; CPP-24)
//
// A policy is a set of static functions over lines; the 64-bit word `filter` of a primary bucket's
// line is its own to use.
#pragma once

#include <concepts>
#include <cstdint>

#include "roost/hash/bucket_map.h"
#include "roost/table/split_layout.h"
#include "roost/table/tag_line.h"

namespace roost {

// A displaced entry: the bucket it comes from, the slot it sits in, and their lines.
struct Displaced {
  BucketIndex primary;
  TagLine& primary_line;
  SlotRef at;
  TagLine& line;

  [[nodiscard]] Tag tag() const { return Tag{line.tags[at.slot]}; }
};

template <class P>
concept ProbingPolicy =
    requires(const BucketMap& map, BucketIndex bucket, const TagLine& line, Tag tag, unsigned slot,
             Displaced entry, uint64_t needed, void (&visit)(BucketIndex)) {
      // Slots of a bucket: 1, 2, 4 or 8.
      { P::kSlots } -> std::convertible_to<unsigned>;

      // The load up to which a table with spare buckets (engine.h) can promise to accept entries;
      // zero if it promises nothing.
      { P::kPromisedLoad } -> std::convertible_to<double>;

      // Whether a lookup asks for both of a key's lines at once.
      { P::kVisitsBoth } -> std::convertible_to<bool>;

      // Whether a key with this tag, whose primary bucket has this line, may be displaced.
      { P::may_be_displaced(line, tag) } -> std::same_as<bool>;

      // The bucket that it is in then. `line` is that of `bucket`, the primary one.
      { P::secondary(map, bucket, line, tag) } -> std::same_as<BucketIndex>;

      // The primary bucket of the displaced entry in a slot of `bucket`, whose line is `line`.
      { P::primary(map, bucket, line, slot) } -> std::same_as<BucketIndex>;

      // Calls visit(bucket) with each bucket that an entry may be displaced to from its primary
      // one.
      P::for_each_secondary(map, bucket, line, tag, visit);

      // An entry was displaced: both lines shall tell. Its slot is filled.
      P::note(map, entry);

      // It left: its slot is marked vacant and still holds its tag; the moved count is brought
      // down.
      P::forget(entry);

      // What the displaced entry in a slot of `line` needs of its primary bucket's filter.
      { P::needed_filter(line, slot) } -> std::same_as<uint64_t>;

      // Whether a bucket's filter tells of nothing but its displaced entries, who need `needed` of
      // it, as far as the policy keeps it so.
      { P::filter_fits(line, needed) } -> std::same_as<bool>;
    };

// What policies with one secondary bucket a key share: a bucket and a tag lead to the other bucket.
struct PairedProbing {
  static constexpr unsigned kSlots = kSlotsPerBucket;
  static constexpr double kPromisedLoad = 0.95;
  static constexpr bool kVisitsBoth = false;

  static BucketIndex secondary(const BucketMap& map, BucketIndex bucket, const TagLine& /*line*/,
                               Tag tag) {
    return map.other(bucket, tag);
  }
  static BucketIndex primary(const BucketMap& map, BucketIndex bucket, const TagLine& line,
                             unsigned slot) {
    return map.other(bucket, Tag{line.tags[slot]});
  }
  template <class Visit>
  static void for_each_secondary(const BucketMap& map, BucketIndex bucket, const TagLine& /*line*/,
                                 Tag tag, Visit&& visit) {
    visit(map.other(bucket, tag));
  }
};

// The filter has two bits set for each displaced key; they are cleared when the last one has left,
// all at once (CPP-08, CPP-11).
struct FilteredProbing : PairedProbing {
  static bool may_be_displaced(const TagLine& line, Tag tag) {
    const uint64_t bits = filter_bits(tag);
    return (line.filter & bits) == bits;
  }
  static void note(const BucketMap& /*map*/, Displaced entry) {
    entry.primary_line.filter |= filter_bits(entry.tag());
  }
  static void forget(Displaced entry) {
    if (entry.primary_line.moved == 0) entry.primary_line.filter = 0;
  }
  static uint64_t needed_filter(const TagLine& line, unsigned slot) {
    return filter_bits(Tag{line.tags[slot]});
  }
  static bool filter_fits(const TagLine& line, uint64_t /*needed*/) {
    return line.moved != 0 || line.filter == 0;
  }
};

// No filter: what the primary bucket does not have is looked for in the secondary one.
struct OptimisticProbing : PairedProbing {
  static bool may_be_displaced(const TagLine& /*line*/, Tag /*tag*/) { return true; }
  static void note(const BucketMap& /*map*/, Displaced /*entry*/) {}
  static void forget(Displaced /*entry*/) {}
  static uint64_t needed_filter(const TagLine& /*line*/, unsigned /*slot*/) { return 0; }
  static bool filter_fits(const TagLine& line, uint64_t /*needed*/) { return line.filter == 0; }
};

// No filter, and no bet on the primary bucket either. Buckets of 1, 2 and 4 slots are for the
// paper's question how many slots a bucket should have (CPP-26): the line stays a cache line, and
// only the first kSlotCount of its slots are used.
template <unsigned kSlotCount = kSlotsPerBucket>
struct PessimisticProbing : OptimisticProbing {
  static constexpr unsigned kSlots = kSlotCount;
  static constexpr double kPromisedLoad =
      kSlots == kSlotsPerBucket ? PairedProbing::kPromisedLoad : 0;
  static constexpr bool kVisitsBoth = true;
};

static_assert(ProbingPolicy<FilteredProbing> && ProbingPolicy<OptimisticProbing> &&
              ProbingPolicy<PessimisticProbing<>>);

}  // namespace roost
