// Probing policies: where beside its primary bucket a key may be, and what its primary bucket's
// line says of that. The rest of the algorithm is engine.h's, and the same for all of them.
//
// FilteredProbing is what users want (Cuckoo++). The others are the tables that its paper compares
// it with, on the same lines and slots; the library compiles none of them, tests and lab do:
//
//   FilteredProbing     goes to the secondary bucket when the filter lets it (CPP-22)
//   OptimisticProbing   goes there whenever the primary bucket does not have the key (CPP-21)
//   PessimisticProbing  asks for both buckets at once and looks at both (CPP-20)
//   HortonProbing       has seven secondary buckets to choose from (horton_probing.h; CPP-24)
//
// A policy is a set of static functions over lines; the field `filter` of a primary bucket's line
// is its own to use. The first two stand on every layout's lines (layout.h), the others on TagLine.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

#include "roost/hash/bucket_map.h"
#include "roost/table/layout.h"
#include "roost/table/slot_mask.h"
#include "roost/table/tag_line.h"

namespace roost {

// A displaced entry: its tag, the bucket it comes from, the slot it sits in, and their lines.
template <class Line>
struct Displaced {
  Tag tag;
  BucketIndex primary;
  Line& primary_line;
  SlotRef at;
  Line& line;
};

template <class P, class Line>
concept ProbingPolicy =
    requires(const BucketMap& map, BucketIndex bucket, const Line& line, Tag tag, unsigned slot,
             Displaced<Line> entry, uint64_t needed, void (&visit)(BucketIndex)) {
      // What an image calls it.
      { P::kName } -> std::convertible_to<const char*>;

      // Slots of a bucket of a split layout: 1, 2, 4 or 8.
      { P::kSplitSlots } -> std::convertible_to<unsigned>;

      // Whether a table with a stash (engine.h) can promise to accept entries, up to the load
      // that its layout names.
      { P::kPromises } -> std::convertible_to<bool>;

      // Whether a lookup asks for both of a key's lines at once.
      { P::kVisitsBoth } -> std::convertible_to<bool>;

      // Whether a key with this tag, whose primary bucket has this line, may be displaced.
      { P::may_be_displaced(line, tag) } -> std::same_as<bool>;

      // The bucket that it is in then. `line` is that of `bucket`, the primary one.
      { P::secondary(map, bucket, line, tag) } -> std::same_as<BucketIndex>;

      // The primary bucket of the displaced entry with this tag in a slot of `bucket`, whose line
      // is `line`; for layouts that keep tags.
      { P::primary(map, bucket, line, slot, tag) } -> std::same_as<BucketIndex>;

      // Calls visit(bucket) with each bucket that an entry may be displaced to from its primary
      // one.
      P::for_each_secondary(map, bucket, line, tag, visit);

      // An entry was displaced: both lines record it. Its slot is filled.
      P::note(map, entry);

      // It is still there: what its primary bucket's line forgot of it, it may learn again.
      P::remind(entry);

      // It left: its slot is marked vacant and still holds its tag; the moved count is brought
      // down. The bits of the filter that no key may need now, if what is still displaced shows
      // it.
      P::forget(entry);
      { P::doubtful_filter(line, tag) } -> std::same_as<uint64_t>;

      // Bits of the filter that lead to an entry displaced from there, unless the line forgot all.
      { P::enough_leads(line) } -> std::same_as<uint64_t>;

      // Calls visit(bucket) with buckets that entries displaced from `bucket` are in: all those
      // that need one of these bits of the filter, or those that the line remembers.
      P::for_each_lead(map, bucket, line, needed, visit);

      // What the displaced entry with this tag in a slot of `line` needs of its primary bucket's
      // filter.
      { P::needed_filter(line, slot, tag) } -> std::same_as<uint64_t>;

      // Whether a bucket's filter leads to nothing but its displaced entries, which need `needed`
      // of it, as far as the policy keeps it so.
      { P::filter_fits(line, needed) } -> std::same_as<bool>;
    };

// For policies whose lines do not lead to what was displaced from them.
struct WithoutLeads {
  template <class Line>
  static void remind(Displaced<Line> /*entry*/) {}
  template <class Line>
  static uint64_t doubtful_filter(const Line& /*line*/, Tag /*tag*/) {
    return 0;
  }
  template <class Line>
  static uint64_t enough_leads(const Line& /*line*/) {
    return 0;
  }
  template <class Line, class Visit>
  [[gnu::always_inline]] static void for_each_lead(const BucketMap& /*map*/, BucketIndex /*bucket*/,
                                                   const Line& /*line*/, uint64_t /*filter_bits*/,
                                                   Visit&& /*visit*/) {}
};

// What policies with one secondary bucket a key share: a bucket and a tag lead to the other bucket.
struct PairedProbing : WithoutLeads {
  static constexpr unsigned kSplitSlots = kSlotsPerBucket;
  static constexpr bool kPromises = true;
  static constexpr bool kVisitsBoth = false;

  template <class Line>
  static BucketIndex secondary(const BucketMap& map, BucketIndex bucket, const Line& /*line*/,
                               Tag tag) {
    return map.other(bucket, tag);
  }
  template <class Line>
  static BucketIndex primary(const BucketMap& map, BucketIndex bucket, const Line& /*line*/,
                             unsigned /*slot*/, Tag tag) {
    return map.other(bucket, tag);
  }
  template <class Line, class Visit>
  [[gnu::always_inline]] static void for_each_secondary(const BucketMap& map, BucketIndex bucket,
                                                        const Line& /*line*/, Tag tag,
                                                        Visit&& visit) {
    visit(map.other(bucket, tag));
  }
};

// The filter has bits set for each displaced key (CPP-08). It is kept free of the bits of keys that
// have left (CPP-11): lines of tags remember the tags of displaced keys; the filter of lines of
// keys says which functions of the bucket map displaced them, so that they can be found.
struct FilteredProbing : PairedProbing {
  static constexpr const char* kName = "filtered";

  template <class Line>
  static constexpr bool kByFunctions = requires { Line::kFunctionsOfABit; };

  template <class Line>
  static bool may_be_displaced(const Line& line, Tag tag) {
    const uint64_t bits = Line::filter_bits(tag);
    return (line.filter & bits) == bits;
  }
  template <class Line>
  static BucketIndex secondary(const BucketMap& map, BucketIndex bucket, const Line& /*line*/,
                               Tag tag) {
    if constexpr (kByFunctions<Line>) {
      return map.reached(bucket, Line::function(tag));
    } else {
      return map.other(bucket, tag);
    }
  }
  template <class Line, class Visit>
  [[gnu::always_inline]] static void for_each_secondary(const BucketMap& map, BucketIndex bucket,
                                                        const Line& line, Tag tag, Visit&& visit) {
    visit(secondary(map, bucket, line, tag));
  }
  template <class Line>
  static void note(const BucketMap& /*map*/, Displaced<Line> entry) {
    entry.primary_line.set_filter(entry.primary_line.filter | Line::filter_bits(entry.tag));
    if constexpr (!kByFunctions<Line>) entry.primary_line.note_moved(entry.tag);
  }
  template <class Line>
  static void remind(Displaced<Line> entry) {
    if constexpr (!kByFunctions<Line>) entry.primary_line.remind_moved(entry.tag);
  }
  template <class Line>
  static void forget(Displaced<Line> entry) {
    if constexpr (!kByFunctions<Line>) {
      entry.primary_line.forget_moved(entry.tag);
    } else if (entry.primary_line.moved == 0) {
      entry.primary_line.set_filter(0);
    }
  }
  template <class Line>
  static uint64_t doubtful_filter(const Line& line, Tag tag) {
    if constexpr (kByFunctions<Line>) {
      if (line.moved == 0) return 0;
      // A key's other bit may be the first one of any other key.
      return Line::kBitsOfAKey == 1 ? Line::filter_bits(tag) : uint64_t{line.filter};
    } else {
      return 0;
    }
  }
  template <class Line>
  static uint64_t enough_leads(const Line& line) {
    const uint64_t filter = line.filter;
    if constexpr (kByFunctions<Line>) {
      // One bit, if none is another key's second one.
      if (Line::kBitsOfAKey == 1) return filter & ~(filter - 1);
    }
    return filter;
  }
  template <class Line, class Visit>
  [[gnu::always_inline]] static void for_each_lead(const BucketMap& map, BucketIndex bucket,
                                                   const Line& line, uint64_t filter_bits,
                                                   Visit&& visit) {
    if constexpr (kByFunctions<Line>) {
      for (const unsigned bit : FilterMask{line.filter & filter_bits}) {
        const unsigned first = bit * Line::kFunctionsOfABit;
        for (unsigned function = first; function < first + Line::kFunctionsOfABit; ++function)
          visit(map.reached(bucket, function));
      }
    } else {
      for (unsigned place = 0; place < line.remembered; ++place)
        visit(map.other(bucket, Tag{line.moved_tags[place]}));
    }
  }
  template <class Line>
  static uint64_t needed_filter(const Line& /*line*/, unsigned /*slot*/, Tag tag) {
    return Line::filter_bits(tag);
  }
  template <class Line>
  static bool filter_fits(const Line& line, uint64_t needed) {
    if constexpr (kByFunctions<Line>) {
      return line.filter == needed;
    } else {
      return line.remembers_all_moved() ? line.filter == needed : line.moved != 0;
    }
  }
};

// No filter: what the primary bucket does not have is looked for in the secondary one.
struct OptimisticProbing : PairedProbing {
  static constexpr const char* kName = "optimistic";

  template <class Line>
  static bool may_be_displaced(const Line& /*line*/, Tag /*tag*/) {
    return true;
  }
  template <class Line>
  static void note(const BucketMap& /*map*/, Displaced<Line> /*entry*/) {}
  template <class Line>
  static void forget(Displaced<Line> /*entry*/) {}
  template <class Line>
  static uint64_t needed_filter(const Line& /*line*/, unsigned /*slot*/, Tag /*tag*/) {
    return 0;
  }
  template <class Line>
  static bool filter_fits(const Line& line, uint64_t /*needed*/) {
    if constexpr (KeepsFilter<Line>) return line.filter == 0;
    return true;
  }
};

// No filter, and no bet on the primary bucket either. Buckets of 1, 2 and 4 slots are for the
// paper's question how many slots a bucket should have (CPP-26): the line stays a cache line, and
// only the first kSlotCount of its slots are used.
template <unsigned kSlotCount = kSlotsPerBucket>
struct PessimisticProbing : OptimisticProbing {
  static constexpr const char* kName = "pessimistic";
  static constexpr unsigned kSplitSlots = kSlotCount;
  static constexpr bool kVisitsBoth = true;
  static bool may_be_displaced(const TagLine& /*line*/, Tag /*tag*/) { return true; }
};

static_assert(ProbingPolicy<FilteredProbing, TagLine> &&
              ProbingPolicy<OptimisticProbing, TagLine> &&
              ProbingPolicy<PessimisticProbing<>, TagLine>);

}  // namespace roost
