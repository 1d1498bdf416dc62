#include "targets/switch/prefixes.h"

#include <algorithm>
#include <optional>

#include "roost/base/assert.h"

namespace roost::targets {
namespace {

// Of the tree of halves, down to those that lie in one range. "Wanted" are ranges that cost a half
// least if they come from outside.
class HalvesTree {
 public:
  explicit HalvesTree(std::span<const Range> ranges) : ranges_(ranges) {
    build({.free_bits = kSwitchKeyBits}, 0, static_cast<uint32_t>(ranges.size() - 1));
  }

  std::vector<RangeEntry> entries() && {
    assign(0, {.free_bits = kSwitchKeyBits}, {});
    return std::move(entries_);
  }

 private:
  // The left half of a node stands behind it.
  struct Node {
    uint32_t first = 0;  // range of its first number
    uint32_t last = 0;
    uint32_t right = 0;  // node of its right half; 0: it lies in one range
    bool wants_first = true;
    bool wants_last = true;
    bool wants_border = false;  // only the range across the border of its halves
  };

  static Prefix left_of(const Prefix& prefix) {
    return {.first = prefix.first, .free_bits = prefix.free_bits - 1};
  }
  static Prefix right_of(const Prefix& prefix) {
    const unsigned free_bits = prefix.free_bits - 1;
    return {.first = prefix.first + (uint64_t{1} << free_bits), .free_bits = free_bits};
  }

  // `first`, `last`: the ranges that it has numbers of. Returns the node.
  uint32_t build(const Prefix& prefix, uint32_t first, uint32_t last) {
    const auto index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({.first = first, .last = last});
    if (first == last) return index;
    const uint64_t middle = right_of(prefix).first;
    const auto inside = ranges_.subspan(first, last - first + 1);
    const auto behind = std::ranges::lower_bound(inside, middle, {}, &Range::first);
    // The range of the number before the middle, and that of the middle.
    const auto left_last = first + static_cast<uint32_t>(behind - inside.begin()) - 1;
    const bool is_border = behind != inside.end() && behind->first == middle;
    const uint32_t left = build(left_of(prefix), first, left_last);
    const uint32_t right = build(right_of(prefix), is_border ? left_last + 1 : left_last, last);
    Node& node = nodes_[index];
    node.right = right;
    node.wants_border = !is_border && nodes_[left].wants_last && nodes_[right].wants_first;
    node.wants_first = node.wants_border ? first == left_last : nodes_[left].wants_first;
    node.wants_last = node.wants_border ? last == left_last : nodes_[right].wants_last;
    return index;
  }

  [[nodiscard]] bool wants(uint32_t index, uint32_t range) const {
    const Node& node = nodes_[index];
    if (range < node.first || range > node.last) return false;
    if (node.right == 0) return true;
    if (node.wants_border) return range == nodes_[index + 1].last;
    return wants(index + 1, range) || wants(node.right, range);
  }
  // One that it wants.
  [[nodiscard]] uint32_t wanted(uint32_t index) const {
    while (nodes_[index].right != 0 && !nodes_[index].wants_border) ++index;
    return nodes_[index].right == 0 ? nodes_[index].first : nodes_[index + 1].last;
  }

  // `outer`: the range that its numbers have from shorter prefixes.
  void assign(uint32_t index, const Prefix& prefix, std::optional<uint32_t> outer) {
    if (!outer || !wants(index, *outer)) {
      outer = wanted(index);
      entries_.push_back({.prefix = prefix, .bucket = ranges_[*outer].bucket});
    }
    const Node& node = nodes_[index];
    if (node.right == 0) return;
    assign(index + 1, left_of(prefix), outer);
    assign(node.right, right_of(prefix), outer);
  }

  std::span<const Range> ranges_;
  std::vector<Node> nodes_;
  std::vector<RangeEntry> entries_;
};

}  // namespace

std::vector<RangeEntry> longest_prefixes(std::span<const Range> ranges) {
  ROOST_ASSERT(!ranges.empty() && ranges.front().first == 0);
  ROOST_ASSERT(ranges.back().first <= kSwitchKeyMask);
  return HalvesTree(ranges).entries();
}

}  // namespace roost::targets
