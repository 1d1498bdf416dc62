// Rules come and go: see rule_table.h. How they are searched is in rule_search.cc.
#include "roost/classify/rule_table.h"

#include <algorithm>
#include <utility>

#include "roost/base/assert.h"

namespace roost::classify {

RuleTable::Slot* RuleTable::live_slot(RuleId id) {
  if (id.index >= slots_.size()) return nullptr;
  Slot& slot = slots_[id.index];
  return slot.is_live && slot.generation == id.generation ? &slot : nullptr;
}

const Rule* RuleTable::find(RuleId id) const {
  Slot* slot = const_cast<RuleTable*>(this)->live_slot(id);
  return slot == nullptr ? nullptr : &slot->rule;
}

Result<RuleTable::Subtable*> RuleTable::subtable_for(const PacketFields& mask) {
  const auto at = subtables_.find(mask);
  if (at != subtables_.end()) return at->second.get();
  if (subtables_.size() >= config_.subtables_max) {
    return Error{"rules have more than " + std::to_string(config_.subtables_max) +
                 " different masks; use fewer prefix lengths, or allow more masks"};
  }
  Result<MaskedTable> table = MaskedTable::create(mask, config_.hashing);
  if (!table) return table.error();
  auto subtable = std::make_unique<Subtable>(Subtable{.table = std::move(table).value()});
  Subtable* made = subtable.get();
  subtables_.emplace(mask, std::move(subtable));
  order_.push_back(made);  // its bound is zero, so it is the last
  unions_.push_back(looked_at(static_cast<uint32_t>(unions_.size())) | mask);
  return made;
}

RuleIndex RuleTable::take_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    outcomes_.emplace_back();
    return static_cast<RuleIndex>(slots_.size() - 1);
  }
  const RuleIndex index = free_.back();
  free_.pop_back();
  return index;
}

Result<RuleId> RuleTable::add(const Rule& rule) {
  if ((rule.value & rule.mask) != rule.value) {
    return Error{"the rule's value has bits outside its mask; clear them or widen the mask"};
  }
  if (size_ >= config_.rules_max) {
    return Error{"there are " + std::to_string(config_.rules_max) +
                 " rules, all there is room for; allow more"};
  }
  Result<Subtable*> made = subtable_for(rule.mask);
  if (!made) return made.error();
  Subtable& subtable = *made.value();
  const RuleIndex index = take_slot();
  Slot& slot = slots_[index];
  const uint64_t sequence = (uint64_t{1} << kSequenceBits) - 1 - next_sequence_;
  slot.rule = rule;
  slot.rank = uint64_t{rule.priority} << kSequenceBits | sequence;
  outcomes_[index] = {.action = rule.action};
  if (!link(subtable, index)) {
    free_.push_back(index);
    is_loose_ = is_loose_ || subtable.ranks.empty();
    return Error{"no memory for a larger table of rules; " + std::to_string(size_) +
                 " rules are there"};
  }
  slot.is_live = true;
  ++next_sequence_;
  ++size_;
  subtable.ranks.insert(slot.rank);
  if (slot.rank > subtable.bound) raise_bound(subtable, slot.rank);
  return RuleId{index, slot.generation};
}

bool RuleTable::erase(RuleId id) {
  Slot* slot = live_slot(id);
  if (slot == nullptr) return false;
  Subtable& subtable = *subtables_.find(slot->rule.mask)->second;
  unlink(subtable, id.index);
  subtable.ranks.erase(slot->rank);
  is_loose_ = is_loose_ || slot->rank == subtable.bound || subtable.ranks.empty();
  slot->is_live = false;
  ++slot->generation;
  free_.push_back(id.index);
  --size_;
  return true;
}

RuleIndex* RuleTable::link_to_head(Subtable& subtable, const PacketFields& value) {
  RuleIndex* at = subtable.table.find(value);
  while (at != nullptr && *at != kNoRule && slots_[*at].rule.value != value) {
    at = &slots_[*at].other_key;
  }
  return at;
}

bool RuleTable::link(Subtable& subtable, RuleIndex index) {
  Slot& slot = slots_[index];
  slot.lower = kNoRule;
  slot.other_key = kNoRule;
  RuleIndex* at = link_to_head(subtable, slot.rule.value);
  if (at == nullptr) return subtable.table.insert(slot.rule.value, index);
  if (*at == kNoRule || slots_[*at].rank < slot.rank) {
    slot.lower = *at;
    if (*at != kNoRule) slot.other_key = std::exchange(slots_[*at].other_key, kNoRule);
  } else {
    while (*at != kNoRule && slots_[*at].rank > slot.rank) at = &slots_[*at].lower;
    slot.lower = *at;
  }
  *at = index;
  return true;
}

void RuleTable::unlink(Subtable& subtable, RuleIndex index) {
  const Slot& slot = slots_[index];
  RuleIndex* at = link_to_head(subtable, slot.rule.value);
  ROOST_ASSERT(at != nullptr && *at != kNoRule);
  if (*at == index) {
    if (slot.lower != kNoRule) slots_[slot.lower].other_key = slot.other_key;
    *at = slot.lower != kNoRule ? slot.lower : slot.other_key;
    const RuleIndex* first = subtable.table.find(slot.rule.value);
    if (*first == kNoRule) subtable.table.erase(slot.rule.value);
    return;
  }
  while (*at != index) at = &slots_[*at].lower;
  *at = slot.lower;
}

void RuleTable::raise_bound(Subtable& subtable, uint64_t rank) {
  auto from = std::ranges::find(order_, &subtable);
  subtable.bound = rank;
  const auto to = std::find_if(order_.begin(), from,
                               [&](const Subtable* other) { return other->bound < rank; });
  if (to == from) return;
  std::rotate(to, from, from + 1);
  rebuild_unions(static_cast<size_t>(to - order_.begin()));
}

void RuleTable::rebuild_unions(size_t from) {
  unions_.resize(order_.size());
  for (size_t i = from; i < order_.size(); ++i) {
    unions_[i] = looked_at(static_cast<uint32_t>(i)) | order_[i]->table.mask();
  }
}

void RuleTable::tighten() {
  std::erase_if(order_, [](const Subtable* subtable) { return subtable->ranks.empty(); });
  std::erase_if(subtables_, [](const auto& entry) { return entry.second->ranks.empty(); });
  for (Subtable* subtable : order_) subtable->bound = *subtable->ranks.rbegin();
  std::ranges::sort(order_, std::ranges::greater(), &Subtable::bound);
  rebuild_unions(0);
  is_loose_ = false;
}

uint64_t RuleTable::memory_bytes() const {
  constexpr uint64_t kRankBytes = 48;  // a node of the set: a rank, three links and a colour
  uint64_t bytes = slots_.capacity() * sizeof(Slot) + outcomes_.capacity() * sizeof(Outcome) +
                   free_.capacity() * sizeof(RuleIndex) +
                   unions_.capacity() * sizeof(PacketFields) + size_ * kRankBytes;
  for (const Subtable* subtable : order_) {
    bytes += sizeof(Subtable) + subtable->table.memory_bytes();
  }
  return bytes;
}

std::optional<std::string> RuleTable::audit() const {
  uint64_t live = 0;
  for (RuleIndex index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (!slot.is_live) continue;
    ++live;
    const Subtable& subtable = *subtables_.at(slot.rule.mask);
    const RuleIndex* first = subtables_.at(slot.rule.mask)->table.find(slot.rule.value);
    RuleIndex at = first == nullptr ? kNoRule : head_for(subtable, *first, slot.rule.value);
    while (at != kNoRule && at != index) {
      if (slots_[at].lower != kNoRule && slots_[slots_[at].lower].rank >= slots_[at].rank) {
        return "I1: rule " + std::to_string(at) + " stands before a higher one";
      }
      at = slots_[at].lower;
    }
    if (at != index) return "I1: rule " + std::to_string(index) + " is not found by its value";
    if (slot.rank > subtable.bound)
      return "I2: rule " + std::to_string(index) + " is above its bound";
  }
  if (live != size_)
    return "I1: " + std::to_string(live) + " rules live, not " + std::to_string(size_);
  PacketFields looked;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (i != 0 && order_[i]->bound > order_[i - 1]->bound) return "I2: bounds rise";
    looked = looked | order_[i]->table.mask();
    if (looked != unions_[i]) return "I3: union " + std::to_string(i) + " is not that of its masks";
  }
  return std::nullopt;
}

}  // namespace roost::classify
