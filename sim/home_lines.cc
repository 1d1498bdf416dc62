// Which lines a slice holds, who else has them, and what is given up for others.
#include <algorithm>
#include <bit>

#include "sim/home_slice.h"
#include "sim/memory_system.h"

namespace roost::sim {

HomeSlice::Sharing HomeSlice::sharing_of(uint64_t line) {
  if (is_inclusive()) {
    const LlcEntry* entry = in_llc(line);
    return entry == nullptr ? Sharing{} : entry->state.sharing;
  }
  const FilterEntry* entry = filter_.find(line, set_index(line));
  return entry == nullptr ? Sharing{} : entry->state;
}

HomeSlice::Sharing* HomeSlice::sharing_to_change(uint64_t line) {
  if (is_inclusive()) {
    LlcEntry* entry = in_llc(line);
    return entry == nullptr ? nullptr : &entry->state.sharing;
  }
  FilterEntry* entry = filter_.find(line, set_index(line));
  if (entry == nullptr) {
    entry = filter_.victim(set_index(line), [this](const FilterEntry& other) {
      return may_be_evicted(other.line, other.state);
    });
    if (entry == nullptr) return nullptr;
    if (entry->is_valid()) {
      const uint64_t other = entry->line;
      const bool was_dirty = take_back(other, entry->state);
      filter_.remove(entry);
      keep(other, was_dirty);
    }
    filter_.put(entry, line, {});
  }
  filter_.touch(entry);
  return &entry->state;
}

void HomeSlice::forget_if_empty(uint64_t line) {
  if (is_inclusive()) return;
  FilterEntry* entry = filter_.find(line, set_index(line));
  if (entry != nullptr && entry->state.is_empty()) filter_.remove(entry);
}

bool HomeSlice::may_be_evicted(uint64_t line, const Sharing& sharing) {
  if (locks_.is_locked(line) || transaction_of(line) != nullptr) return false;
  for (uint32_t cores = sharing.cores; cores != 0; cores &= cores - 1) {
    if (memory_.cache(static_cast<Tile>(std::countr_zero(cores))).is_granted(line)) return false;
  }
  return true;
}

bool HomeSlice::take_back(uint64_t line, const Sharing& sharing) {
  ++counts_.back_invalidations;
  bool was_dirty = false;
  for (uint32_t cores = sharing.cores; cores != 0; cores &= cores - 1)
    was_dirty |= memory_.cache(static_cast<Tile>(std::countr_zero(cores))).drop(line);
  for (uint32_t left = sharing.accelerators; left != 0; left &= left - 1)
    memory_.take_metadata(static_cast<Tile>(std::countr_zero(left)), line);
  return was_dirty;
}

HomeSlice::LlcEntry* HomeSlice::allocate(uint64_t line, bool is_dirty) {
  LlcEntry* entry = in_llc(line);
  if (entry == nullptr) {
    entry = llc_.victim(set_index(line), [this](const LlcEntry& other) {
      return may_be_evicted(other.line, other.state.sharing);
    });
    if (entry == nullptr) return nullptr;
    if (entry->is_valid()) evict(*entry);
    llc_.put(entry, line, {});
  }
  entry->state.is_dirty = entry->state.is_dirty || is_dirty;
  llc_.touch(entry);
  return entry;
}

void HomeSlice::evict(LlcEntry& entry) {
  const uint64_t line = entry.line;
  bool is_dirty = entry.state.is_dirty;
  if (is_inclusive() && !entry.state.sharing.is_empty())
    is_dirty |= take_back(line, entry.state.sharing);
  llc_.remove(&entry);
  if (is_dirty) memory_.dram().write(memory_.now(), line);
}

bool HomeSlice::begin_shared(uint64_t line, Tile core) {
  Sharing* sharing = sharing_to_change(line);
  if (sharing == nullptr) return false;
  sharing->cores |= static_cast<uint16_t>(uint32_t{1} << core);
  return true;
}

void HomeSlice::evicted(Tile core, uint64_t line, bool is_dirty) {
  (void)memory_.mesh().send(memory_.now(), core, tile_);
  if (!sharing_of(line).is_empty()) {
    Sharing* sharing = sharing_to_change(line);
    sharing->cores &= static_cast<uint16_t>(~(uint32_t{1} << core));
    if (sharing->owner == static_cast<int8_t>(core)) sharing->owner = kNobody;
    forget_if_empty(line);
  }
  keep(line, is_dirty);
}

std::optional<std::string> HomeSlice::audit() {
  if (!transactions_.empty()) return "a transaction is open";
  if (locks_.size() != 0) return std::to_string(locks_.size()) + " lines are locked";
  std::optional<std::string> wrong;
  for (Tile core = 0; core < memory_.parameters().tiles(); ++core) {
    memory_.cache(core).for_each_line([&](uint64_t line, LineState state) {
      if (memory_.slice_of(line) != tile_ || wrong) return;
      const Sharing sharing = sharing_of(line);
      const std::string what = "line " + std::to_string(line) + " of core " + std::to_string(core);
      if ((sharing.cores >> core & 1) == 0) wrong = what + " is not known at its home";
      if (state != LineState::kShared && (sharing.owner != static_cast<int8_t>(core) ||
                                          std::popcount(uint32_t{sharing.cores}) != 1)) {
        wrong = what + " may be written, and others may have it";
      }
    });
  }
  return wrong;
}

}  // namespace roost::sim
