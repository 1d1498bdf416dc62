// The search for a key while the table may change, alone and word by word: for what a batch did not
// find.
#pragma once

#include <cstdint>

#include "roost/hash/bucket_map.h"
#include "roost/hash/hash64.h"
#include "roost/table/access.h"
#include "roost/table/layout.h"

namespace roost {

// `found` gets the key's word, which is as it was at some moment of the call; false when the key
// was in none of its places at such a moment. `repeated()` is called before each further search.
template <class Placement, class Repeated>
[[nodiscard]] bool search_shared(const Placement& placement, Hash64 hash, uint64_t& found,
                                 Repeated&& repeated) {
  const auto& layout = placement.layout();
  const Tag tag = layout.tag_of(hash);
  const BucketIndex primary = placement.map().primary(hash);
  const BucketIndex other = placement.map().other(primary, tag);
  const auto search = [&] {
    if (layout.read(primary, tag, Residence::kPrimary, primary, found) ||
        layout.read(other, tag, Residence::kDisplaced, primary, found)) {
      return Sought::kWord;
    }
    if (!placement.has_stashed()) return Sought::kNothing;
    const bool is_stashed = placement.for_each_stash_bucket([&](BucketIndex bucket) {
      return layout.read(bucket, tag, Residence::kDisplaced, primary, found);
    });
    return is_stashed ? Sought::kWords : Sought::kNothing;  // the word and its home
  };
  return placement.access().search(primary, other, search, repeated);
}

}  // namespace roost
