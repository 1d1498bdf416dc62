// Keys that come and go and get other values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lab/harness/any_value_table.h"
#include "lab/harness/value_contestant.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

// Of four changes two give a key another value, one takes a key out and one brings one in, of those
// that are not there: the number of keys stays. Not for several threads.
class ChangingKeys {
 public:
  // Some of the keys, by chance, are there; at least one is not.
  ChangingKeys(std::vector<uint64_t> all, uint64_t live_count, uint32_t value_bits, uint64_t seed)
      : value_bits_(value_bits), draw_(seed), order_(std::move(all)), generations_(order_.size()) {
    for (uint64_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[draw_.below(left)]);
    for (uint64_t i = 0; i < order_.size(); ++i)
      (i < live_count ? live_ : gone_).push_back(static_cast<uint32_t>(i));
  }

  [[nodiscard]] Change<uint64_t> next() {
    switch (count_++ % 4) {
      case 1:
        return {ChangeKind::kErase, order_[move_one(live_, gone_)], 0};
      case 3: {
        const uint32_t place = move_one(gone_, live_);
        return {ChangeKind::kInsert, order_[place], value_of(place)};
      }
      default: {
        const uint32_t place = live_[draw_.below(live_.size())];
        ++generations_[place];
        return {ChangeKind::kUpdate, order_[place], value_of(place)};
      }
    }
  }
  [[nodiscard]] std::vector<Change<uint64_t>> changes(size_t count) {
    std::vector<Change<uint64_t>> made(count);
    for (Change<uint64_t>& change : made) change = next();
    return made;
  }

  // Those that are there now, but for some.
  [[nodiscard]] std::vector<ValueEntry<uint64_t>> entries(
      const std::unordered_set<uint64_t>& without = {}) const {
    std::vector<ValueEntry<uint64_t>> found;
    found.reserve(live_.size());
    for (const uint32_t place : live_)
      if (!without.contains(order_[place])) found.push_back({order_[place], value_of(place)});
    return found;
  }

 private:
  using Places = std::vector<uint32_t>;

  uint32_t move_one(Places& from, Places& to) {
    std::swap(from[draw_.below(from.size())], from.back());
    to.push_back(from.back());
    from.pop_back();
    return to.back();
  }
  [[nodiscard]] uint32_t value_of(uint32_t place) const {
    return value_of_word(mix(mixed_word(order_[place]) + generations_[place]), value_bits_);
  }

  uint32_t value_bits_;
  traffic::Draw draw_;
  uint64_t count_ = 0;
  std::vector<uint64_t> order_;
  std::vector<uint8_t> generations_;  // of values, by place in that order
  Places live_;
  Places gone_;
};

}  // namespace roost::lab
