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
  const PacketFields* const lane = &packet;
  if (subtable.table.lookup(&lane, LaneMask::of(0), &first).empty()) return kNoRule;
  return head_for(subtable, first, packet);
}

uint64_t RuleTable::search(PacketLanes packets, LaneMask lanes, Found* found) const {
  std::array<uint64_t, kLanesMax> best{};
  std::array<uint32_t, kLanesMax> firsts;
  for (const unsigned lane : lanes) found[lane] = {};
  uint64_t lookups = 0;
  LaneMask open = lanes;
  LaneMask matched{};
  uint32_t depth = 0;
  for (; depth < order_.size(); ++depth) {
    const Subtable& subtable = *order_[depth];
    // A bound is a rank of the subtable's own rules, of now or before, so it equals no other's.
    const LaneMask settled = open & matched;
    for (const unsigned lane : settled) {
      if (best[lane] <= subtable.bound) continue;
      found[lane].depth = depth;
      open = open - LaneMask::of(lane);
    }
    if (open.empty()) return lookups;
    lookups += open.count();
    for (const unsigned lane : subtable.table.lookup(packets, open, firsts.data())) {
      const RuleIndex rule = head_for(subtable, firsts[lane], *packets[lane]);
      if (rule == kNoRule || slots_[rule].rank < best[lane]) continue;
      best[lane] = slots_[rule].rank;
      found[lane].rule = rule;
      matched |= LaneMask::of(lane);
    }
  }
  for (const unsigned lane : open) found[lane].depth = depth;
  return lookups;
}

}  // namespace roost::classify
