// Horton probing, as the Cuckoo++ paper puts it on its bucket lines to compare with (CPP-24;
// Breslow et al., USENIX ATC 2016): a key has one primary bucket and a choice of seven secondary
// ones.
//
// Idea: a bucket's line has a remap array of 21 fields of three bits where the filter would be:
//
//   63  62     60           5      3 2      0
//   +---+--------+--- ... --+--------+--------+
//   | 0 |field 20|          |field 1 |field 0 |
//   +---+--------+--- ... --+--------+--------+
//
// A key's remap tag, taken from its tag, names its field. A field of 0 says that no key of that
// remap tag was displaced from here; one of 1 to 7 names the function that leads to where they are.
// An insert into a full primary bucket looks at what the functions offer and takes the least loaded
// bucket.
//
// A field speaks for every key of its remap tag. So the first of them to be displaced chooses the
// function, the others follow it; a field cannot change while one of them is away, and becomes 0
// when the last of them has come back or gone: anything else would lose keys. As a secondary
// bucket depends on primary bucket, remap tag and function only, all keys that share a field are in
// one bucket, and a look at its line shows which the last one is. A slot's function is kept beside
// it, so that a displaced entry leads back to its primary bucket without its key.
//
// Limits: keys of one remap tag have no choice left once one of them is displaced, so a table may
// refuse a key that a free choice would place (docs/decisions/0006-probing.md has the loads).
#pragma once

#include <cstdint>

#include "roost/base/assert.h"
#include "roost/hash/bucket_map.h"
#include "roost/table/probing.h"
#include "roost/table/tag_line.h"

namespace roost {

struct HortonProbing : WithoutLeads {
  static constexpr const char* kName = "horton";
  static constexpr unsigned kSplitSlots = kSlotsPerBucket;
  static constexpr bool kPromises = false;
  static constexpr bool kVisitsBoth = false;
  static constexpr unsigned kRemapTags = 21;
  static constexpr unsigned kFunctions = 7;

  static bool may_be_displaced(const TagLine& line, Tag tag) {
    return function_of(line, remap_tag(tag)) != 0;
  }
  static BucketIndex secondary(const BucketMap& map, BucketIndex bucket, const TagLine& line,
                               Tag tag) {
    return reach(map, bucket, remap_tag(tag), function_of(line, remap_tag(tag)));
  }
  static BucketIndex primary(const BucketMap& map, BucketIndex bucket, const TagLine& line,
                             unsigned slot, Tag tag) {
    return reach(map, bucket, remap_tag(tag), line.functions[slot]);
  }
  template <class Visit>
  [[gnu::always_inline]] static void for_each_secondary(const BucketMap& map, BucketIndex bucket,
                                                        const TagLine& line, Tag tag,
                                                        Visit&& visit) {
    const unsigned chosen = function_of(line, remap_tag(tag));
    const unsigned first = chosen != 0 ? chosen : 1;
    const unsigned last = chosen != 0 ? chosen : kFunctions;
    for (unsigned function = first; function <= last; ++function)
      visit(reach(map, bucket, remap_tag(tag), function));
  }

  static void note(const BucketMap& map, Displaced<TagLine> entry) {
    const unsigned function = function_between(map, entry);
    ROOST_DEBUG_ASSERT(!may_be_displaced(entry.primary_line, entry.tag) ||
                       function_of(entry.primary_line, remap_tag(entry.tag)) == function);
    entry.line.functions[entry.at.slot] = static_cast<uint8_t>(function);
    entry.primary_line.filter |= needed_filter(entry.line, entry.at.slot, entry.tag);
  }
  static void forget(Displaced<TagLine> entry) {
    const uint64_t field = needed_filter(entry.line, entry.at.slot, entry.tag);
    for (unsigned slot = 0; slot < kSlotsPerBucket; ++slot) {
      const bool is_displaced = displaced_slots(entry.line).has(slot);
      const Tag tag{entry.line.tags[slot]};
      if (is_displaced && needed_filter(entry.line, slot, tag) == field) return;
    }
    entry.primary_line.filter &= ~field;
  }

  static uint64_t needed_filter(const TagLine& line, unsigned slot, Tag tag) {
    return uint64_t{line.functions[slot]} << (3 * remap_tag(tag));
  }
  static bool filter_fits(const TagLine& line, uint64_t needed) { return line.filter == needed; }

 private:
  // 0 to 20, by the tag's upper bits.
  static unsigned remap_tag(Tag tag) {
    return unsigned{static_cast<uint16_t>(tag)} * kRemapTags >> 16;
  }

  static unsigned function_of(const TagLine& line, unsigned remap_tag) {
    return static_cast<unsigned>(line.filter >> (3 * remap_tag)) & 7;
  }

  // From the primary bucket to the secondary one and back. The bucket map is given each pair of
  // remap tag and function as a tag of its own, the square of the pair's number: sums of a regular
  // grid would let two moves in a row reach but few buckets.
  static BucketIndex reach(const BucketMap& map, BucketIndex bucket, unsigned remap_tag,
                           unsigned function) {
    const unsigned pair = 8 * remap_tag + function;
    return map.other(bucket, Tag{static_cast<uint16_t>(pair * pair)});
  }

  // The first function that leads from an entry's primary bucket to where it is: in small tables
  // several do.
  static unsigned function_between(const BucketMap& map, Displaced<TagLine> entry) {
    unsigned function = 1;
    while (reach(map, entry.primary, remap_tag(entry.tag), function) != entry.at.bucket) ++function;
    return function;
  }
};

static_assert(ProbingPolicy<HortonProbing, TagLine>);

}  // namespace roost
