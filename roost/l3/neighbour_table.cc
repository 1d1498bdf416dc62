#include "roost/l3/neighbour_table.h"

#include <utility>

#include "roost/base/assert.h"

namespace roost::l3 {

Result<NeighbourTable> NeighbourTable::create(const Config& config) {
  // At half load an insert never fails.
  auto by_address = ByAddress::create(
      {.capacity = 16 + 2 * uint64_t{config.entry_count_max}, .hash_seed = config.hash_seed});
  if (!by_address) return by_address.error();
  if (config.entry_count_max > kNoNeighbour) return Error{"more than 16,777,215 neighbours"};
  NeighbourTable table(std::move(by_address).value(), config.entry_count_max);
  for (NeighbourIndex i = 0; i < config.entry_count_max; ++i) table.link(table.free_, i);
  return table;
}

NeighbourIndex NeighbourTable::find(uint16_t port, const net::IpAddress& address) {
  const NeighbourIndex* index = by_address_.find({.address = address, .port = port});
  return index == nullptr ? kNoNeighbour : *index;
}

NeighbourIndex NeighbourTable::create_entry(uint16_t port,
                                            const std::optional<net::IpAddress>& address,
                                            bool is_pinned, Tick now) {
  const NeighbourIndex index = free_.first;
  if (index == kNoNeighbour) return kNoNeighbour;
  if (address) {
    const InsertOutcome outcome = by_address_.insert({.address = *address, .port = port}, index);
    ROOST_ASSERT(outcome == InsertOutcome::kInserted);
  }
  unlink(free_, index);
  entries_[index] = {.address = address.value_or(net::IpAddress()),
                     .port = port,
                     .is_pinned = is_pinned,
                     .is_free = false,
                     .since = now};
  if (is_listed(entries_[index])) link(list_of(entries_[index]), index);
  ++count_of(entries_[index]);
  ++count_;
  return index;
}

void NeighbourTable::forget(NeighbourIndex index) {
  NeighbourEntry& entry = entries_[index];
  ROOST_ASSERT(!entry.is_free && !entry.is_pinned && entry.waiting.count == 0);
  unlink(list_of(entry), index);
  const bool is_erased = by_address_.erase({.address = entry.address, .port = entry.port});
  ROOST_ASSERT(is_erased);
  --count_of(entry);
  entry = {};
  link(free_, index);
  --count_;
}

void NeighbourTable::enter(NeighbourIndex index, NeighbourState state, Tick now) {
  NeighbourEntry& entry = entries_[index];
  if (is_listed(entry)) unlink(list_of(entry), index);
  --count_of(entry);
  entry.state = state;
  ++count_of(entry);
  entry.since = now;
  if (is_listed(entry)) link(list_of(entry), index);
}

bool NeighbourTable::is_listed(const NeighbourEntry& entry) {
  using enum NeighbourState;
  if (entry.state == kStatic) return false;
  const bool has_deadline =
      entry.state == kIncomplete || entry.state == kReachable || entry.state == kProbe;
  return has_deadline || !entry.is_pinned;
}

void NeighbourTable::link(List& list, NeighbourIndex index) {
  entries_[index].previous = list.last;
  entries_[index].next = kNoNeighbour;
  if (list.last == kNoNeighbour) {
    list.first = index;
  } else {
    entries_[list.last].next = index;
  }
  list.last = index;
}

void NeighbourTable::unlink(List& list, NeighbourIndex index) {
  const NeighbourEntry& entry = entries_[index];
  (entry.previous == kNoNeighbour ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNoNeighbour ? list.last : entries_[entry.next].previous) = entry.previous;
}

bool NeighbourTable::audit() {
  std::vector<uint8_t> seen(entries_.size());
  for (size_t state = 0; state < kNeighbourStateCount; ++state) {
    Tick since{};
    for (NeighbourIndex i = lists_[state].first; i != kNoNeighbour; i = entries_[i].next) {
      const NeighbourEntry& entry = entries_[i];
      if (entry.is_free || static_cast<size_t>(entry.state) != state || !is_listed(entry) ||
          entry.since < since || seen[i]++ != 0) {
        return false;
      }
      since = entry.since;
    }
  }
  uint32_t there = 0;
  std::array<uint32_t, kNeighbourStateCount> by_state{};
  for (NeighbourIndex i = 0; i < entries_.size(); ++i) {
    const NeighbourEntry& entry = entries_[i];
    if (entry.is_free) continue;
    ++there;
    ++by_state[static_cast<size_t>(entry.state)];
    if (is_listed(entry) != (seen[i] != 0)) return false;
    const bool has_address = entry.address != net::IpAddress();
    if (has_address && find(entry.port, entry.address) != i) return false;
  }
  return there == count_ && by_state == counts_by_state_ && !by_address_.audit();
}

}  // namespace roost::l3
