// The naive flow table that every real one is held against: a std::map and plain 64-bit time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "roost/expiry/slot_timers.h"

namespace roost {

template <class Key, class Value>
class FlowModel {
 public:
  explicit FlowModel(bool expires) : expires_(expires) {}

  struct Entry {
    Value value;
    uint64_t last_live_tick;
  };

  // The live entry of a key, or nothing.
  Entry* find(const Key& key) {
    const auto it = entries_.find(key);
    return it != entries_.end() && it->second.last_live_tick >= now_ ? &it->second : nullptr;
  }

  void insert(const Key& key, const Value& value, TickCount timeout) {
    if (!find(key)) {
      bury(key);
      ++created;
    }
    entries_[key] = {value, last_live_tick(timeout)};
  }

  bool erase(const Key& key) {
    if (!find(key)) return false;
    entries_.erase(key);
    ++erased;
    return true;
  }

  void refresh(const Key& key, TickCount timeout) {
    find(key)->last_live_tick = last_live_tick(timeout);
  }

  // The table handed an entry over: true if it had died and had not been handed over yet.
  bool hand_over(const Key& key, const Value& value) {
    if (const auto it = entries_.find(key);
        it != entries_.end() && it->second.last_live_tick < now_)
      bury(key);
    const auto grave = std::find(graves_.begin(), graves_.end(), std::pair(key, value));
    if (grave == graves_.end()) return false;
    graves_.erase(grave);
    return true;
  }

  // Entries that died and were not handed over.
  uint64_t not_handed_over() {
    const auto dead = std::count_if(entries_.begin(), entries_.end(), [this](const auto& entry) {
      return entry.second.last_live_tick < now_;
    });
    return graves_.size() + static_cast<uint64_t>(dead);
  }

  std::map<Key, Value> live() {
    std::map<Key, Value> live;
    for (const auto& [key, entry] : entries_) {
      if (entry.last_live_tick >= now_) live.emplace(key, entry.value);
    }
    return live;
  }

  void clear() {
    erased += entries_.size() + graves_.size();
    entries_.clear();
    graves_.clear();
  }

  void advance(uint64_t now) { now_ = now; }
  [[nodiscard]] uint64_t now() const { return now_; }

  uint64_t created = 0;
  uint64_t erased = 0;

 private:
  uint64_t last_live_tick(TickCount timeout) const {
    return expires_ ? now_ + std::min(timeout, kTimeoutTicksMax) : UINT64_MAX;
  }

  // A dead entry makes way for a new one of the same key; the table still owes it to the sink.
  void bury(const Key& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    graves_.emplace_back(key, it->second.value);
    entries_.erase(it);
  }

  bool expires_;
  uint64_t now_ = 0;
  std::map<Key, Entry> entries_;
  std::vector<std::pair<Key, Value>> graves_;
};

}  // namespace roost
