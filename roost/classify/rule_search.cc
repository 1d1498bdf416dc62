// The search for the winners of a batch: see rule_table.h.
#include "roost/classify/rule_table.h"

namespace roost::classify {

RuleIndex RuleTable::head_for(const Subtable& subtable, RuleIndex first,
                              const PacketFields& packet) const {
  if (!subtable.table.is_wide()) return first;
  while (first != kNoRule && !slots_[first].rule.matches(packet)) first = slots_[first].other_key;
  return first;
}

RuleIndex RuleTable::match_at(size_t place, const PacketFields& packet) const {
  uint32_t first = kNoRule;
  const Subtable& subtable = *order_[place];
  if (subtable.table.lookup(&packet, 1, &first) == 0) return kNoRule;
  return head_for(subtable, first, packet);
}

uint64_t RuleTable::search(const PacketFields* packets, LaneSet lanes, Found* found) const {
  std::array<uint64_t, kLanesMax> best{};
  std::array<uint32_t, kLanesMax> firsts;
  for_each_lane(lanes, [&](size_t lane) { found[lane] = {}; });
  uint64_t lookups = 0;
  LaneSet open = lanes;
  LaneSet matched = 0;
  uint32_t depth = 0;
  for (; depth < order_.size(); ++depth) {
    const Subtable& subtable = *order_[depth];
    // A bound is a rank of the subtable's own rules, of now or before, so it equals no other's.
    for_each_lane(open & matched, [&](size_t lane) {
      if (best[lane] <= subtable.bound) return;
      found[lane].depth = depth;
      open &= ~(LaneSet{1} << lane);
    });
    if (open == 0) return lookups;
    lookups += static_cast<uint64_t>(std::popcount(open));
    for_each_lane(subtable.table.lookup(packets, open, firsts.data()), [&](size_t lane) {
      const RuleIndex rule = head_for(subtable, firsts[lane], packets[lane]);
      if (rule == kNoRule || slots_[rule].rank < best[lane]) return;
      best[lane] = slots_[rule].rank;
      found[lane].rule = rule;
      matched |= LaneSet{1} << lane;
    });
  }
  for_each_lane(open, [&](size_t lane) { found[lane].depth = depth; });
  return lookups;
}

}  // namespace roost::classify
