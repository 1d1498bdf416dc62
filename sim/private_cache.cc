#include "sim/private_cache.h"

#include <algorithm>
#include <utility>

#include "sim/home_slice.h"
#include "sim/memory_system.h"

namespace roost::sim {

namespace {

Replacement replacement_in(const Parameters& parameters) {
  return parameters.replacement == ReplacementChoice::kLru ? Replacement::kLru
                                                           : Replacement::kTreePlru;
}

uint64_t sets_of(uint32_t bytes, uint32_t ways) { return bytes / kLineBytes / ways; }

}  // namespace

PrivateCache::PrivateCache(MemorySystem& memory, Tile tile)
    : memory_(memory),
      tile_(tile),
      l1_(sets_of(memory.parameters().l1d_bytes, memory.parameters().l1d_ways),
          memory.parameters().l1d_ways, replacement_in(memory.parameters())),
      l2_(sets_of(memory.parameters().l2_bytes, memory.parameters().l2_ways),
          memory.parameters().l2_ways, replacement_in(memory.parameters())) {}

std::optional<Cycle> PrivateCache::access(uint64_t line, Wanted wanted, LineUser* user,
                                          uint32_t tag) {
  const bool is_write = wanted == Wanted::kWrite;
  L1Entry* near = l1_.find(line);
  if (near != nullptr && (!is_write || near->state.may_write)) {
    ++counts_.l1_hits;
    l1_.touch(near);
    near->state.is_dirty = near->state.is_dirty || is_write;
    return is_write ? 0 : memory_.parameters().l1d_hit_cycles;
  }
  L2Entry* entry = near != nullptr ? nullptr : l2_.find(line);
  if (entry != nullptr && (!is_write || entry->state != LineState::kShared)) {
    ++counts_.l2_hits;
    l2_.touch(entry);
    if (is_write) entry->state = LineState::kModified;
    put_in_l1(line, entry->state != LineState::kShared);
    return memory_.parameters().l2_hit_cycles;
  }
  start_miss(line, {user, tag, wanted});
  return std::nullopt;
}

void PrivateCache::prefetch_to_write(uint64_t line) {
  const L1Entry* near = l1_.find(line);
  const L2Entry* entry = l2_.find(line);
  if (near != nullptr && near->state.may_write) return;
  if (entry != nullptr && entry->state != LineState::kShared) return;
  start_miss(line, {nullptr, 0, Wanted::kWrite});
}

std::optional<Cycle> PrivateCache::look(uint64_t line) {
  if (l1_.find(line) != nullptr) return memory_.parameters().l1d_hit_cycles;
  if (l2_.find(line) != nullptr) return memory_.parameters().l2_hit_cycles;
  return std::nullopt;
}

std::optional<LineState> PrivateCache::state(uint64_t line) {
  const L2Entry* entry = l2_.find(line);
  if (entry == nullptr) return std::nullopt;
  const L1Entry* near = l1_.find(line);
  return near != nullptr && near->state.is_dirty ? LineState::kModified : entry->state;
}

PrivateCache::Miss* PrivateCache::miss_of(uint64_t line) {
  const auto found = std::ranges::find(misses_, line, &Miss::line);
  return found == misses_.end() ? nullptr : &*found;
}

void PrivateCache::start_miss(uint64_t line, Waiter waiter) {
  if (Miss* miss = miss_of(line)) {
    if (waiter.user != nullptr) miss->waiters.push_back(waiter);
    return;
  }
  if (misses_.size() == memory_.parameters().l2_misses_in_flight) {
    if (waiter.user != nullptr) stalled_.push_back({line, waiter});
    return;
  }
  ++counts_.l2_misses;
  Miss& miss = misses_.emplace_back(Miss{.line = line, .wanted = waiter.wanted});
  if (waiter.user != nullptr) miss.waiters.push_back(waiter);
  ask(line, waiter.wanted, memory_.now() + memory_.parameters().l2_hit_cycles);
  if (waiter.user != nullptr) prefetch_beside(line);
}

void PrivateCache::prefetch_beside(uint64_t line) {
  if (memory_.parameters().prefetch != PrefetchChoice::kAdjacent) return;
  const uint64_t beside = line ^ 1;
  if (misses_.size() == memory_.parameters().l2_misses_in_flight || miss_of(beside) != nullptr ||
      l2_.find(beside) != nullptr) {
    return;
  }
  ++counts_.prefetches;
  start_miss(beside, {nullptr, 0, Wanted::kRead});
}

void PrivateCache::ask(uint64_t line, Wanted wanted, Cycle leaves) {
  const Tile home = memory_.slice_of(line);
  const Cycle arrives =
      memory_.mesh().send(leaves + memory_.parameters().mesh_request_cycles, tile_, home);
  const uint32_t kind = wanted == Wanted::kWrite ? HomeSlice::kGetWritable : HomeSlice::kGetShared;
  memory_.events().at(arrives, {&memory_.home(home), kind, tile_, line});
}

void PrivateCache::grant(uint64_t line) {
  Miss* miss = miss_of(line);
  ROOST_ASSERT(miss != nullptr);
  miss->is_granted = true;
}

void PrivateCache::handle(const Event& event) {
  const uint64_t line = event.argument;
  switch (event.kind) {
    case kFill:
      fill(line, static_cast<LineState>(event.index));
      return;
    case kRefused:
      ++counts_.refused;
      memory_.events().at(memory_.now() + memory_.parameters().core_lock_retry_cycles,
                          {this, kAskAgain, 0, line});
      return;
    case kAskAgain:
      ask(line, Wanted::kWrite, memory_.now());
      return;
    default: {
      ++counts_.snoops;
      Miss* miss = miss_of(line);
      if (miss != nullptr && miss->is_granted) {
        miss->snoops.push_back(event);
      } else {
        answer(event);
      }
    }
  }
}

void PrivateCache::fill(uint64_t line, LineState state) {
  Miss* miss = miss_of(line);
  ROOST_ASSERT(miss != nullptr && miss->is_granted);
  if (!install(line, state)) {  // every way of the set is being made writable: one will be soon
    memory_.events().at(memory_.now() + 1, {this, kFill, static_cast<uint32_t>(state), line});
    return;
  }
  const Miss done = std::exchange(*miss, std::move(misses_.back()));
  misses_.pop_back();
  for (const Waiter& waiter : done.waiters) {
    if (waiter.wanted == Wanted::kRead || access(line, Wanted::kWrite, waiter.user, waiter.tag))
      waiter.user->line_ready(waiter.tag);
  }
  for (const Event& snoop : done.snoops) answer(snoop);
  while (!stalled_.empty() && misses_.size() < memory_.parameters().l2_misses_in_flight) {
    const Stalled next = stalled_.front();
    stalled_.pop_front();
    if (access(next.line, next.waiter.wanted, next.waiter.user, next.waiter.tag))
      next.waiter.user->line_ready(next.waiter.tag);
  }
}

bool PrivateCache::install(uint64_t line, LineState state) {
  L2Entry* entry = l2_.find(line);
  if (entry == nullptr) {
    // A line with a miss in flight is being made writable: its home counts on its being here.
    entry =
        l2_.victim(line, [this](const L2Entry& other) { return miss_of(other.line) == nullptr; });
    if (entry == nullptr) return false;
    if (entry->is_valid()) give_up(*entry);
    l2_.put(entry, line, state);
  }
  entry->state = state;
  l2_.touch(entry);
  put_in_l1(line, state != LineState::kShared);
  return true;
}

void PrivateCache::put_in_l1(uint64_t line, bool may_write) {
  L1Entry* near = l1_.find(line);
  if (near == nullptr) {
    near = l1_.victim(line, [](const L1Entry&) { return true; });
    if (near->is_valid()) write_back_l1(near->line);
    l1_.put(near, line, {});
  }
  near->state.may_write = may_write;
  l1_.touch(near);
}

// A line in L1D is not modified any more, and may not be written; L2 remembers whether it was.
bool PrivateCache::write_back_l1(uint64_t line) {
  L1Entry* near = l1_.find(line);
  if (near == nullptr) return false;
  const bool was_dirty = near->state.is_dirty;
  near->state = {};
  if (!was_dirty) return false;
  if (L2Entry* entry = l2_.find(line)) entry->state = LineState::kModified;
  return true;
}

// L2 loses a line, and L1D with it. Whether it was modified.
bool PrivateCache::remove(L2Entry& entry) {
  write_back_l1(entry.line);
  if (L1Entry* near = l1_.find(entry.line)) l1_.remove(near);
  const bool was_dirty = entry.state == LineState::kModified;
  l2_.remove(&entry);
  return was_dirty;
}

void PrivateCache::give_up(L2Entry& entry) {
  const uint64_t line = entry.line;
  const bool was_dirty = remove(entry);
  memory_.home_of(line).evicted(tile_, line, was_dirty);
}

bool PrivateCache::is_granted(uint64_t line) {
  const Miss* miss = miss_of(line);
  return miss != nullptr && miss->is_granted;
}

bool PrivateCache::drop(uint64_t line) {
  L2Entry* entry = l2_.find(line);
  return entry != nullptr && remove(*entry);
}

void PrivateCache::answer(const Event& snoop) {
  const uint64_t line = snoop.argument;
  L2Entry* entry = l2_.find(line);
  bool is_dirty = false;
  if (entry != nullptr && snoop.kind == kSnoopInvalidate) {
    is_dirty = remove(*entry);
  } else if (entry != nullptr && snoop.kind == kSnoopShare) {
    write_back_l1(line);
    is_dirty = entry->state == LineState::kModified;
    entry->state = LineState::kShared;
  }
  const Tile home = memory_.slice_of(line);
  const Cycle arrives =
      memory_.mesh().send(memory_.now() + memory_.parameters().core_snoop_cycles, tile_, home);
  memory_.events().at(arrives, {&memory_.home(home), HomeSlice::kSnoopAnswer,
                                is_dirty ? HomeSlice::kWasModified : 0U, line});
}

}  // namespace roost::sim
