// The search for a kick path: which entries to move, each to another of its buckets, so that a slot
// comes free in one of the full buckets that a key may be in (CPP-10).
//
// Idea: breadth first from all those buckets, so that the shortest path is found. A node is a
// bucket; its children are the buckets that its entries may move to, known by their tags alone: one
// an entry, or seven where an entry has the choice (horton_probing.h). The first child with a
// vacant slot ends the search. A bucket's children are prefetched together, then read.
//
// Limits: as many buckets are looked at as the caller says, kick_nodes_max(slots) at most, and
// paths have at most kick_path_length_max(slots) moves. The search changes nothing; a failed one
// leaves the table as it was.
//
// Nothing keeps a bucket from being queued twice, but a path through it twice is never the answer:
// without the detour it would have been found before. So the moves of a path do not spoil each
// other: entries that share a remap field share a primary bucket, and two of them could only both
// move through it.
#pragma once

#include <array>
#include <cstdint>

#include "roost/base/assert.h"
#include "roost/isa/prefetch.h"
#include "roost/table/layout.h"
#include "roost/table/placement.h"
#include "roost/table/slot_mask.h"

namespace roost {

// Buckets that a search for room in buckets of so many slots looks at. Two and three slots fill up
// earlier, and have more to gain from a longer search: with 1,024 nodes, tables of a million slots
// refuse at loads of 0.875 and 0.941, with 4,096 at 0.885 and 0.949.
constexpr unsigned kick_nodes_max(unsigned slots) { return slots == 2 || slots == 3 ? 4096 : 1024; }

// Longest path that is searched for in buckets of so many slots. With three and more, the limit of
// nodes comes first in all but small tables. Two reach that many nodes with eleven moves; one slot
// makes two chains.
constexpr unsigned kick_path_length_max(unsigned slots) {
  return slots >= 3 ? 8 : slots == 2 ? 11 : kick_nodes_max(slots) / 2 - 1;
}

// The slots along a path: steps[0] lies in a bucket of the new key, each next slot in another
// bucket of the entry before it, and the last one is vacant. A path of `move_count` moves has
// move_count + 1 steps.
template <unsigned kSlots>
struct KickPath {
  unsigned move_count = 0;
  std::array<SlotRef, kick_path_length_max(kSlots) + 1> steps;
};

namespace detail {

struct KickNode {
  BucketIndex bucket;
  uint16_t parent;      // position in the queue; of a root, its own
  uint16_t depth;       // moves from the root
  uint8_t parent_slot;  // the parent's slot whose entry would move here
};

// Breadth-first queue that is also the tree: nodes stay where they were pushed.
template <unsigned kNodesMax>
class KickTree {
 public:
  void push_root(BucketIndex bucket) { push(bucket, count_, 0, 0); }
  void push_child(BucketIndex bucket, unsigned parent, unsigned parent_slot) {
    push(bucket, parent, parent_slot, nodes_[parent].depth + 1U);
  }
  [[nodiscard]] bool is_full(unsigned nodes_max) const { return count_ >= nodes_max; }
  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] const KickNode& operator[](unsigned node) const { return nodes_[node]; }

  // The path from the root to slot `vacant` of `node`.
  template <unsigned kSlots>
  void trace(unsigned node, unsigned vacant, KickPath<kSlots>& path) const {
    path.move_count = nodes_[node].depth;
    unsigned slot = vacant;
    for (unsigned step = path.move_count;; --step) {
      path.steps[step] = {nodes_[node].bucket, slot};
      if (step == 0) return;
      slot = nodes_[node].parent_slot;
      node = nodes_[node].parent;
    }
  }

 private:
  void push(BucketIndex bucket, unsigned parent, unsigned parent_slot, unsigned depth) {
    nodes_[count_++] = {bucket, static_cast<uint16_t>(parent), static_cast<uint16_t>(depth),
                        static_cast<uint8_t>(parent_slot)};
  }

  std::array<KickNode, kNodesMax> nodes_;
  unsigned count_ = 0;
};

}  // namespace detail

// Finds a path that frees a slot in one of the full buckets that `roots(push)` names, by calling
// push(bucket). `moves(slot, visit)` calls visit(bucket) with each bucket that the entry in the
// slot may move to; `vacancies(line)` are the slots that can be written over. Returns
// false when there is no path within the limits.
template <class Placement, class Roots, class Moves, class Vacancies>
[[nodiscard]] bool find_kick_path(const Placement& placement, unsigned nodes_max, Roots&& roots,
                                  Moves&& moves, Vacancies&& vacancies,
                                  KickPath<Placement::Layout::kSlots>& path) {
  constexpr unsigned kSlots = Placement::Layout::kSlots;
  ROOST_DEBUG_ASSERT(nodes_max <= kick_nodes_max(kSlots));
  detail::KickTree<kick_nodes_max(kSlots)> tree;
  roots([&](BucketIndex bucket) { tree.push_root(bucket); });
  for (unsigned node = 0; node < tree.count() && !tree.is_full(nodes_max); ++node) {
    if (tree[node].depth == kick_path_length_max(kSlots)) continue;
    const BucketIndex bucket = tree[node].bucket;
    const unsigned first_child = tree.count();
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      moves(SlotRef{bucket, slot}, [&](BucketIndex next) {
        if (tree.is_full(nodes_max)) return;
        prefetch(PrefetchHint::kT0, &placement.layout().line_at(next));
        tree.push_child(next, node, slot);
      });
    }
    for (unsigned child = first_child; child < tree.count(); ++child) {
      const SlotMask vacant = vacancies(placement.layout().line(tree[child].bucket));
      if (vacant.empty()) continue;
      tree.trace(child, vacant.lowest(), path);
      return true;
    }
  }
  return false;
}

}  // namespace roost
