// The lines that a cache, a snoop filter or a slice holds: sets of ways, and which way is given up
// next, by tree-PLRU or true LRU. What is kept of a line beside its number is the user's.
//
// Tree-PLRU: a bit for each inner node of a binary tree over the ways says which half is to be
// given up; a use of a way turns the bits on its path away from it. Ways are a power of two then;
// other numbers of ways are kept by LRU.
//
// A free way is taken before any line is given up: the one of the lowest number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "roost/base/assert.h"

namespace roost::sim {

enum class Replacement : uint8_t { kTreePlru, kLru };

template <class State>
class CacheArray {
 public:
  struct Entry {
    uint64_t line = kNone;
    State state{};
    [[nodiscard]] bool is_valid() const { return line != kNone; }
  };

  // `sets` is a power of two, `ways` at most 32.
  CacheArray(uint64_t sets, unsigned ways, Replacement replacement)
      : set_mask_(sets - 1),
        ways_(ways),
        is_tree_(replacement == Replacement::kTreePlru && std::has_single_bit(ways)),
        lines_(sets * ways, kNone),
        entries_(sets * ways),
        uses_(is_tree_ ? 0 : sets * ways),
        trees_(is_tree_ ? sets : 0) {
    ROOST_ASSERT(std::has_single_bit(sets) && ways >= 1 && ways <= 32);
  }

  // The entry of a line, or nullptr. `index` is the line's number, or what of it picks the set.
  [[nodiscard]] Entry* find(uint64_t line, uint64_t index) {
    const uint64_t first = (index & set_mask_) * ways_;
    for (unsigned way = 0; way < ways_; ++way) {
      if (lines_[first + way] == line) return &entries_[first + way];
    }
    return nullptr;
  }
  [[nodiscard]] Entry* find(uint64_t line) { return find(line, line); }

  // A line takes an entry; an entry loses its line.
  void put(Entry* entry, uint64_t line, const State& state) {
    *entry = {line, state};
    lines_[static_cast<uint64_t>(entry - entries_.data())] = line;
  }
  void remove(Entry* entry) { put(entry, kNone, {}); }

  // It was used now.
  void touch(Entry* entry) {
    const auto place = static_cast<uint64_t>(entry - entries_.data());
    if (!is_tree_) {
      uses_[place] = ++clock_;
      return;
    }
    const auto way = static_cast<unsigned>(place % ways_);
    uint32_t& tree = trees_[place / ways_];
    // Nodes are numbered from 1 at the root; a set bit leads to the upper half.
    unsigned node = 1;
    for (unsigned half = ways_ / 2; half > 0; half /= 2) {
      const bool is_upper = (way & half) != 0;
      tree = is_upper ? tree & ~(1U << node) : tree | (1U << node);
      node = 2 * node + (is_upper ? 1 : 0);
    }
  }

  // The entry that a line that is not there would take: a free one, or the one to be given up among
  // those that may(entry). nullptr if none may.
  template <class May>
  [[nodiscard]] Entry* victim(uint64_t index, May&& may) {
    const uint64_t number = index & set_mask_;
    Entry* set = &entries_[number * ways_];
    for (unsigned way = 0; way < ways_; ++way) {
      if (!set[way].is_valid()) return &set[way];
    }
    if (is_tree_) {
      Entry* wanted = &set[tree_victim(trees_[number])];
      if (may(*wanted)) return wanted;
      for (unsigned way = 0; way < ways_; ++way) {
        if (may(set[way])) return &set[way];
      }
      return nullptr;
    }
    Entry* oldest = nullptr;
    for (unsigned way = 0; way < ways_; ++way) {
      if (may(set[way]) && (oldest == nullptr || use_of(&set[way]) < use_of(oldest)))
        oldest = &set[way];
    }
    return oldest;
  }

  // Calls visit(entry) for each line held. Time linear in the capacity.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.is_valid()) visit(entry);
    }
  }

 private:
  [[nodiscard]] unsigned tree_victim(uint32_t tree) const {
    unsigned way = 0;
    unsigned node = 1;
    for (unsigned half = ways_ / 2; half > 0; half /= 2) {
      const unsigned is_upper = (tree >> node) & 1;
      way += is_upper * half;
      node = 2 * node + is_upper;
    }
    return way;
  }
  [[nodiscard]] uint64_t use_of(const Entry* entry) const {
    return uses_[static_cast<uint64_t>(entry - entries_.data())];
  }

  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t set_mask_;
  unsigned ways_;
  bool is_tree_;
  std::vector<uint64_t> lines_;  // of the entries again, close together, to be searched
  std::vector<Entry> entries_;
  std::vector<uint64_t> uses_;
  std::vector<uint32_t> trees_;
  uint64_t clock_ = 0;
};

}  // namespace roost::sim
