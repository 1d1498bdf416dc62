// See megaflow_cache.h.
#include "roost/classify/megaflow_cache.h"

#include <algorithm>
#include <utility>

#include "roost/base/assert.h"

namespace roost::classify {

LaneMask MegaflowCache::lookup(PacketLanes packets, LaneMask lanes, MegaflowIndex* found,
                               uint64_t& lookups) {
  if (++batches_ == kRankingPeriod) rank_subtables();
  std::array<uint32_t, kLanesMax> numbers;
  LaneMask open = lanes;
  for (const uint32_t number : order_) {
    if (open.empty()) break;
    Subtable& subtable = *subtables_[number];
    lookups += open.count();
    LaneMask hits = subtable.table.lookup(packets, open, numbers.data());
    for (const unsigned lane : hits) {
      const MegaflowIndex index = numbers[lane];
      const bool is_other =
          subtable.table.is_wide() && !subtable.words.agree(*packets[lane], values_[index]);
      if (is_other) {
        hits = hits - LaneMask::of(lane);
        continue;
      }
      found[lane] = index;
      touch(index);
    }
    subtable.hits += hits.count();
    open = open - hits;
  }
  return lanes - open;
}

MegaflowIndex MegaflowCache::find(const PacketFields& packet) {
  for (const uint32_t number : order_) {
    const uint32_t* there = subtables_[number]->table.find(packet);
    if (there != nullptr && has(*there, packet)) return *there;
  }
  return kNoMegaflow;
}

void MegaflowCache::rank_subtables() {
  batches_ = 0;
  std::ranges::stable_sort(order_, std::ranges::greater(),
                           [&](uint32_t number) { return subtables_[number]->hits; });
  for (const uint32_t number : order_) subtables_[number]->hits /= 2;
}

std::optional<uint32_t> MegaflowCache::subtable_for(const PacketFields& mask) {
  for (const uint32_t number : order_) {
    if (subtables_[number]->table.mask() == mask) return number;
  }
  if (order_.size() >= config_.masks_max) return std::nullopt;
  Result<MaskedTable> table = MaskedTable::create(mask, config_.hashing);
  if (!table) return std::nullopt;
  const auto gap =
      std::ranges::find_if(subtables_, [](const auto& subtable) { return subtable == nullptr; });
  const auto number = static_cast<uint32_t>(gap - subtables_.begin());
  if (gap == subtables_.end()) subtables_.emplace_back();
  subtables_[number] = std::make_unique<Subtable>(
      Subtable{.table = std::move(table).value(), .words = MaskWords(mask)});
  order_.push_back(number);
  return number;
}

MegaflowIndex MegaflowCache::keep(const PacketFields& packet, const PacketFields& mask,
                                  RuleIndex rule) {
  const std::optional<uint32_t> number = subtable_for(mask);
  if (!number) return kNoMegaflow;
  Subtable& subtable = *subtables_[*number];
  const PacketFields value = packet & mask;
  if (const uint32_t* there = subtable.table.find(value); there != nullptr) {
    // Another packet of this batch was first, or another value of the same digest.
    return values_[*there] == value ? *there : kNoMegaflow;
  }
  if (free_.empty() && megaflows_.size() >= config_.megaflows_max) return kNoMegaflow;
  if (free_.empty()) {
    free_.push_back(static_cast<MegaflowIndex>(megaflows_.size()));
    megaflows_.emplace_back();
    values_.emplace_back();
  }
  const MegaflowIndex index = free_.back();
  if (!subtable.table.insert(value, index)) return kNoMegaflow;
  free_.pop_back();
  ++subtable.size;
  values_[index] = value;
  megaflows_[index] = {.last_hit = now_, .rule = rule, .subtable = *number};
  return index;
}

void MegaflowCache::remove(MegaflowIndex index) {
  Megaflow& megaflow = megaflows_[index];
  Subtable& subtable = *subtables_[megaflow.subtable];
  subtable.table.erase(values_[index]);
  --subtable.size;
  megaflow.subtable = kNoSubtable;
  free_.push_back(index);
}

template <class Predicate>
uint64_t MegaflowCache::remove_if(Predicate&& predicate) {
  uint64_t removed = 0;
  for (MegaflowIndex index = 0; index < megaflows_.size(); ++index) {
    if (!is_live(index) || !predicate(index)) continue;
    remove(index);
    ++removed;
  }
  return removed;
}

uint64_t MegaflowCache::remove_beaten_by(RuleIndex added, const RuleTable& rules) {
  const Rule& rule = rules.rule(added);
  const uint64_t rank = rules.rank(added);
  std::vector<PacketFields> common(subtables_.size());
  for (const uint32_t number : order_) {
    common[number] = subtables_[number]->table.mask() & rule.mask;
  }
  // Only the words that the rule looks at, and most megaflows differ in the first of them.
  std::array<uint8_t, kFieldWords> words;
  size_t count = 0;
  for (size_t word = 0; word < kFieldWords; ++word) {
    if (rule.mask.words[word] != 0) words[count++] = static_cast<uint8_t>(word);
  }
  const auto overlaps = [&](MegaflowIndex index) {
    const PacketFields& mask = common[megaflows_[index].subtable];
    const PacketFields& value = values_[index];
    return std::all_of(words.begin(), words.begin() + count, [&](uint8_t word) {
      return ((value.words[word] ^ rule.value.words[word]) & mask.words[word]) == 0;
    });
  };
  return remove_if([&](MegaflowIndex index) {
    const RuleIndex winner = megaflows_[index].rule;
    return overlaps(index) && (winner == kNoRule || rules.rank(winner) < rank);
  });
}

uint64_t MegaflowCache::remove_those_of(RuleIndex erased) {
  return remove_if([&](MegaflowIndex index) { return megaflows_[index].rule == erased; });
}

void MegaflowCache::clear() {
  for (Megaflow& megaflow : megaflows_) megaflow.subtable = kNoSubtable;
  free_.resize(megaflows_.size());
  for (size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<MegaflowIndex>(i);
  order_.clear();
  subtables_.clear();
  sweep_at_ = 0;
}

uint64_t MegaflowCache::remove_idle(size_t budget) {
  if (sweep_at_ == 0) {
    if (swept_ == now_) return 0;
    swept_ = now_;
  }
  uint64_t removed = 0;
  const size_t end = std::min(megaflows_.size(), sweep_at_ + budget);
  for (; sweep_at_ < end; ++sweep_at_) {
    const auto index = static_cast<MegaflowIndex>(sweep_at_);
    const Megaflow& megaflow = megaflows_[index];
    if (!is_live(index) || megaflow.last_hit.count + config_.idle_ticks > now_.count) continue;
    remove(index);
    ++removed;
  }
  if (sweep_at_ < megaflows_.size()) return removed;
  sweep_at_ = 0;
  std::erase_if(order_, [&](uint32_t number) {
    if (subtables_[number]->size != 0) return false;
    subtables_[number] = nullptr;
    return true;
  });
  return removed;
}

uint64_t MegaflowCache::memory_bytes() const {
  uint64_t bytes = megaflows_.capacity() * sizeof(Megaflow) +
                   values_.capacity() * sizeof(PacketFields) +
                   free_.capacity() * sizeof(MegaflowIndex);
  for (const uint32_t number : order_) {
    bytes += sizeof(Subtable) + subtables_[number]->table.memory_bytes();
  }
  return bytes;
}

std::optional<std::string> MegaflowCache::audit() {
  std::vector<uint64_t> sizes(subtables_.size());
  for (MegaflowIndex index = 0; index < megaflows_.size(); ++index) {
    const Megaflow& megaflow = megaflows_[index];
    if (!is_live(index)) continue;
    if (subtables_[megaflow.subtable] == nullptr) return "I1: a megaflow without a subtable";
    const uint32_t* there = subtables_[megaflow.subtable]->table.find(values_[index]);
    if (there == nullptr || *there != index) {
      return "I1: megaflow " + std::to_string(index) + " is not found by its value";
    }
    ++sizes[megaflow.subtable];
  }
  for (const uint32_t number : order_) {
    if (subtables_[number]->size != sizes[number]) return "I1: a subtable counts wrongly";
  }
  return std::nullopt;
}

}  // namespace roost::classify
