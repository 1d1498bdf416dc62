// The search for a kick path: which entries to move, each to its other bucket, so that a slot comes
// free in one of two full buckets (CPP-10).
//
// Idea: breadth first from both buckets, so that the shortest path is found. A node is a bucket;
// its eight children are the other buckets of its eight entries, known by their tags alone. The
// first node with a vacant slot ends the search. Lines are prefetched when a node is queued and
// read when its turn comes.
//
// Limits: kKickNodesMax buckets are looked at and paths have at most kKickPathLengthMax moves. The
// search changes nothing; a failed one leaves the table as it was. Nothing keeps a bucket
// from being queued twice, but a path through it twice is never the answer: without the detour it
// would have been found before.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "roost/hash/bucket_map.h"
#include "roost/isa/prefetch.h"
#include "roost/table/split_layout.h"
#include "roost/table/table_stats.h"

namespace roost {

inline constexpr unsigned kKickNodesMax = 1024;

// The slots along a path: steps[0] lies in a bucket of the new key, each next slot in the other
// bucket of the entry before it, and the last one is vacant. A path of `move_count` moves has
// move_count + 1 steps.
struct KickPath {
  unsigned move_count = 0;
  std::array<SlotRef, kKickPathLengthMax + 1> steps;
};

namespace detail {

struct KickNode {
  BucketIndex bucket;
  uint16_t parent;      // position in the queue; a root is its own parent
  uint8_t parent_slot;  // the parent's slot whose entry would move here
  uint8_t depth;        // moves from the root
};

// Breadth-first queue that is also the tree: nodes stay where they were pushed.
class KickTree {
 public:
  void push(BucketIndex bucket, unsigned parent, unsigned parent_slot, unsigned depth) {
    nodes_[count_++] = {bucket, static_cast<uint16_t>(parent), static_cast<uint8_t>(parent_slot),
                        static_cast<uint8_t>(depth)};
  }
  [[nodiscard]] bool is_full() const { return count_ == kKickNodesMax; }
  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] const KickNode& operator[](unsigned node) const { return nodes_[node]; }

  // The path from the root to slot `vacant` of `node`.
  [[nodiscard]] KickPath path_to(unsigned node, unsigned vacant) const {
    KickPath path;
    path.move_count = nodes_[node].depth;
    unsigned slot = vacant;
    for (unsigned step = path.move_count;; --step) {
      path.steps[step] = {nodes_[node].bucket, slot};
      if (step == 0) return path;
      slot = nodes_[node].parent_slot;
      node = nodes_[node].parent;
    }
  }

 private:
  std::array<KickNode, kKickNodesMax> nodes_;
  unsigned count_ = 0;
};

}  // namespace detail

// Finds a path that frees a slot of `primary` or `secondary`, both full. `vacancies(line)` has a
// bit set for each slot that can be written over. Returns false when there is none within the
// limits.
template <class Layout, class Vacancies>
[[nodiscard]] bool find_kick_path(const Layout& layout, const BucketMap& map, BucketIndex primary,
                                  BucketIndex secondary, Vacancies&& vacancies, KickPath& path) {
  detail::KickTree tree;
  tree.push(primary, 0, 0, 0);
  tree.push(secondary, 1, 0, 0);
  for (unsigned node = 0; node < tree.count(); ++node) {
    const BucketIndex bucket = tree[node].bucket;
    const unsigned depth = tree[node].depth;
    const TagLine& line = layout.line(bucket);
    if (const unsigned vacant = vacancies(line); vacant != 0) {
      path = tree.path_to(node, static_cast<unsigned>(std::countr_zero(vacant)));
      return true;
    }
    if (depth == kKickPathLengthMax) continue;
    for (unsigned slot = 0; slot < kSlotsPerBucket && !tree.is_full(); ++slot) {
      const BucketIndex next = map.other(bucket, Tag{line.tags[slot]});
      prefetch<PrefetchHint::kT0>(&layout.line(next));
      tree.push(next, node, slot, depth + 1);
    }
  }
  return false;
}

}  // namespace roost
