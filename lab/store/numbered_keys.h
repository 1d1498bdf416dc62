// Indices for tables that do not number their entries, and the key of each index.
//
// The index that was given back last is taken first, because its record is the likeliest to be in a
// cache. Keys are read when a connection expires, and by walks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/isa/prefetch.h"
#include "roost/memory/arena.h"

namespace roost::lab {

template <class Key>
class NumberedKeys {
 public:
  // Indices from 0 up, all free; at least one.
  static Result<NumberedKeys> create(uint64_t wanted, const ArenaOptions& memory) {
    const uint64_t count = std::max<uint64_t>(wanted, 1);
    Result<Arena> keys = Arena::map(count * sizeof(Key), memory);
    if (!keys) return keys.error();
    return NumberedKeys(count, std::move(keys).value());
  }

  [[nodiscard]] bool has_free() const { return !free_.empty(); }
  // The index that take() takes.
  [[nodiscard]] uint32_t next() const { return free_.back(); }
  void take(const Key& key) {
    keys()[free_.back()] = key;
    free_.pop_back();
  }
  void give_back(uint32_t index) { free_.push_back(index); }

  [[gnu::always_inline]] void ask_for(uint32_t index) const {
    prefetch(PrefetchHint::kT0, &keys()[index]);
  }
  [[nodiscard]] const Key& key_at(uint32_t index) const { return keys()[index]; }
  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] uint64_t taken() const { return count_ - free_.size(); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return keys_.bytes() + free_.capacity() * sizeof(uint32_t);
  }
  // What else belongs to the same table goes on the same pages.
  [[nodiscard]] PageKind page_kind() const { return keys_.page_kind(); }

 private:
  NumberedKeys(uint64_t count, Arena keys) : keys_(std::move(keys)), count_(count), free_(count) {
    std::iota(free_.rbegin(), free_.rend(), uint32_t{0});
  }

  [[nodiscard]] Key* keys() const { return reinterpret_cast<Key*>(keys_.data()); }

  Arena keys_;
  uint64_t count_;
  std::vector<uint32_t> free_;
};

}  // namespace roost::lab
