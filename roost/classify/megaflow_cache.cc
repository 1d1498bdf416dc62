// See megaflow_cache.h.
#include "roost/classify/megaflow_cache.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "roost/base/assert.h"

namespace roost::classify {

LaneMask MegaflowCache::lookup(const PacketFields* packets, LaneMask lanes, MegaflowIndex* found,
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
      const bool is_other = subtable.table.is_wide() &&
                            !agree(packets[lane], megaflows_[index].value, subtable.table.mask());
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
    MaskedTable& table = subtables_[number]->table;
    const uint32_t* there = table.find(packet);
    if (there != nullptr && agree(packet, megaflows_[*there].value, table.mask())) return *there;
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
  Result<MaskedTable> table = MaskedTable::create(mask, config_.subtables);
  if (!table) return std::nullopt;
  const auto gap =
      std::ranges::find_if(subtables_, [](const auto& subtable) { return subtable == nullptr; });
  const auto number = static_cast<uint32_t>(gap - subtables_.begin());
  if (gap == subtables_.end()) subtables_.emplace_back();
  subtables_[number] = std::make_unique<Subtable>(Subtable{.table = std::move(table).value()});
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
    return megaflows_[*there].value == value ? *there : kNoMegaflow;
  }
  if (free_.empty() && megaflows_.size() >= config_.megaflows_max) return kNoMegaflow;
  if (free_.empty()) {
    free_.push_back(static_cast<MegaflowIndex>(megaflows_.size()));
    megaflows_.emplace_back();
  }
  const MegaflowIndex index = free_.back();
  if (!subtable.table.insert(value, index)) return kNoMegaflow;
  free_.pop_back();
  ++subtable.size;
  megaflows_[index] = {
      .value = value, .stamp = next_stamp_++, .last_hit = now_, .rule = rule, .subtable = *number};
  return index;
}

void MegaflowCache::remove(MegaflowIndex index) {
  Megaflow& megaflow = megaflows_[index];
  Subtable& subtable = *subtables_[megaflow.subtable];
  subtable.table.erase(megaflow.value);
  --subtable.size;
  megaflow.stamp = 0;
  free_.push_back(index);
}

template <class Predicate>
uint64_t MegaflowCache::remove_if(Predicate&& predicate) {
  uint64_t removed = 0;
  for (MegaflowIndex index = 0; index < megaflows_.size(); ++index) {
    if (megaflows_[index].stamp == 0 || !predicate(megaflows_[index])) continue;
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
  const auto overlaps = [&](const Megaflow& megaflow) {
    const PacketFields& mask = common[megaflow.subtable];
    return std::all_of(words.begin(), words.begin() + count, [&](uint8_t word) {
      return ((megaflow.value.words[word] ^ rule.value.words[word]) & mask.words[word]) == 0;
    });
  };
  return remove_if([&](const Megaflow& megaflow) {
    return overlaps(megaflow) && (megaflow.rule == kNoRule || rules.rank(megaflow.rule) < rank);
  });
}

uint64_t MegaflowCache::remove_those_of(RuleIndex erased) {
  return remove_if([&](const Megaflow& megaflow) { return megaflow.rule == erased; });
}

void MegaflowCache::clear() {
  for (Megaflow& megaflow : megaflows_) megaflow.stamp = 0;
  free_.resize(megaflows_.size());
  for (size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<MegaflowIndex>(i);
  order_.clear();
  subtables_.clear();
  sweep_at_ = 0;
}

uint64_t MegaflowCache::remove_idle(size_t budget) {
  uint64_t removed = 0;
  for (; budget > 0 && !megaflows_.empty(); --budget) {
    if (sweep_at_ >= megaflows_.size()) {
      sweep_at_ = 0;
      break;
    }
    const auto index = static_cast<MegaflowIndex>(sweep_at_++);
    const Megaflow& megaflow = megaflows_[index];
    if (megaflow.stamp == 0 || megaflow.last_hit.count + config_.idle_ticks > now_.count) continue;
    remove(index);
    ++removed;
  }
  std::erase_if(order_, [&](uint32_t number) {
    if (subtables_[number]->size != 0) return false;
    subtables_[number] = nullptr;
    return true;
  });
  return removed;
}

uint64_t MegaflowCache::memory_bytes() const {
  uint64_t bytes =
      megaflows_.capacity() * sizeof(Megaflow) + free_.capacity() * sizeof(MegaflowIndex);
  for (const uint32_t number : order_) {
    bytes += sizeof(Subtable) + subtables_[number]->table.memory_bytes();
  }
  return bytes;
}

std::optional<std::string> MegaflowCache::audit() {
  std::unordered_set<uint64_t> stamps;
  std::vector<uint64_t> sizes(subtables_.size());
  for (MegaflowIndex index = 0; index < megaflows_.size(); ++index) {
    const Megaflow& megaflow = megaflows_[index];
    if (megaflow.stamp == 0) continue;
    if (subtables_[megaflow.subtable] == nullptr) return "I1: a megaflow without a subtable";
    const uint32_t* there = subtables_[megaflow.subtable]->table.find(megaflow.value);
    if (there == nullptr || *there != index) {
      return "I1: megaflow " + std::to_string(index) + " is not found by its value";
    }
    ++sizes[megaflow.subtable];
    if (!stamps.insert(megaflow.stamp).second || megaflow.stamp >= next_stamp_) {
      return "I2: a stamp twice, or one to come";
    }
  }
  for (const uint32_t number : order_) {
    if (subtables_[number]->size != sizes[number]) return "I1: a subtable counts wrongly";
  }
  return std::nullopt;
}

}  // namespace roost::classify
