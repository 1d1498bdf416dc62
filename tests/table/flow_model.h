// The naive flow table that every real one is held against: a std::map and plain 64-bit time. Keys
// and values are the numbers that they are made from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "roost/expiry/slot_timers.h"

namespace roost {

class FlowModel {
 public:
  explicit FlowModel(bool expires) : expires_(expires) {}

  struct Entry {
    uint64_t value;
    uint64_t last_live_tick;
  };

  // The live entry of a key, or nothing.
  Entry* find(uint64_t key) {
    const auto it = entries_.find(key);
    return it != entries_.end() && it->second.last_live_tick >= now_ ? &it->second : nullptr;
  }

  void insert(uint64_t key, uint64_t value, TickCount timeout) {
    if (!find(key)) {
      reclaim(key);
      ++created;
    }
    entries_[key] = {value, last_live_tick(timeout)};
  }

  bool erase(uint64_t key) {
    if (!find(key)) return false;
    entries_.erase(key);
    ++erased;
    return true;
  }

  void refresh(uint64_t key, TickCount timeout) {
    find(key)->last_live_tick = last_live_tick(timeout);
  }

  // Of a live entry.
  [[nodiscard]] TickCount ticks_left(uint64_t key) {
    return expires_ ? static_cast<TickCount>(find(key)->last_live_tick - now_) : kTimeoutTicksMax;
  }

  // The table called the eviction callback for an entry, whose value `is_value` knows: true if it
  // had expired and the callback had not been called for it.
  template <class IsValue>
  bool evict(uint64_t key, IsValue&& is_value) {
    if (const auto it = entries_.find(key);
        it != entries_.end() && it->second.last_live_tick < now_)
      reclaim(key);
    const auto owed = std::find_if(owed_.begin(), owed_.end(), [&](const auto& entry) {
      return entry.first == key && is_value(entry.second);
    });
    if (owed == owed_.end()) return false;
    owed_.erase(owed);
    return true;
  }

  // Expired entries that the eviction callback has not been called for.
  uint64_t owed_count() {
    const auto expired = std::count_if(entries_.begin(), entries_.end(), [this](const auto& entry) {
      return entry.second.last_live_tick < now_;
    });
    return owed_.size() + static_cast<uint64_t>(expired);
  }

  [[nodiscard]] uint64_t live_count() const {
    const auto live = std::count_if(entries_.begin(), entries_.end(), [this](const auto& entry) {
      return entry.second.last_live_tick >= now_;
    });
    return static_cast<uint64_t>(live);
  }

  void clear() {
    erased += entries_.size() + owed_.size();
    entries_.clear();
    owed_.clear();
  }

  void advance(uint64_t now) { now_ = now; }
  [[nodiscard]] uint64_t now() const { return now_; }

  uint64_t created = 0;
  uint64_t erased = 0;

 private:
  [[nodiscard]] uint64_t last_live_tick(TickCount timeout) const {
    return expires_ ? now_ + std::min(timeout, kTimeoutTicksMax) : UINT64_MAX;
  }

  // An expired entry makes way for a new one of the same key; the table still owes a call of the
  // callback.
  void reclaim(uint64_t key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    owed_.emplace_back(key, it->second.value);
    entries_.erase(it);
  }

  bool expires_;
  uint64_t now_ = 0;
  std::map<uint64_t, Entry> entries_;
  std::vector<std::pair<uint64_t, uint64_t>> owed_;
};

}  // namespace roost
