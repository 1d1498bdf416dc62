// How a walk over a table's buckets misses nothing while entries move: where it is, and what moved
// past it.
//
// Idea: buckets are visited in order, each as a whole. An entry is missed only if the writer moves
// it from a bucket that was not visited yet to one that was. So the writer looks, when it has moved
// the entry, at where each walk is, and writes down entries that moved past it; the walk ends with
// those.
//
// Order: a walk says that it is at a bucket before it reads it, and the writer looks after it has
// moved the entry. Both by a read-modify-write of one word, of which one comes first: then either
// the walk reads what was moved, or the writer sees where the walk is. The writer looks before its
// step ends, because no walk can read the bucket that the entry has left, and go on, meanwhile:
// afterwards a walk that misses the entry may have passed both buckets.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/hash/hash64.h"

namespace roost {

struct WalkPlace {
  std::atomic<uint64_t> end{0};   // of the buckets that were visited; the last of them still may be
  std::vector<std::byte> passed;  // entries: padded key, value
};

// The walks that go on: the writer's, and changed only by who has its right.
class Walks {
 public:
  void begin(WalkPlace& walk) { walks_.push_back(&walk); }
  void end(WalkPlace& walk) { std::erase(walks_, &walk); }

  // Calls append(bytes) for each walk that would miss an entry that has moved so.
  template <class Append>
  void moved(BucketIndex from, BucketIndex to, Append&& append) const {
    for (WalkPlace* walk : walks_) {
      const uint64_t end = walk->end.fetch_add(0, std::memory_order_acq_rel);
      if (static_cast<uint64_t>(to) < end && static_cast<uint64_t>(from) + 1 >= end)
        append(walk->passed);
    }
  }

 private:
  std::vector<WalkPlace*> walks_;
};

}  // namespace roost
