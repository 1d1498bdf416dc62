// Sets of small indices, a bit each: the slots of a line, the lanes of a group, ports.
//
//   for (const unsigned slot : busy_slots(line) - live_slots(line)) ...   // lowest first
//
// Example: SlotMask{0b1010} has the slots 1 and 3; its lowest is 1. A mask is one register, and a
// loop over it is two instructions an index: count the zeroes below the lowest bit, clear that bit.
// Masks of different things are different types, and do not mix.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>

namespace roost {

template <class WordT, class Kind>
class IndexMask {
 public:
  using Word = WordT;

  class Iterator {
   public:
    using value_type = unsigned;
    using difference_type = std::ptrdiff_t;

    constexpr Iterator() = default;
    constexpr explicit Iterator(Word rest) : rest_(rest) {}

    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(rest_)); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(std::default_sentinel_t /*end*/) const { return rest_ == 0; }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    Word rest_ = 0;
  };

  // Not initialised, like a word: what carries masks is filled, not cleared first. `{}` is empty.
  constexpr IndexMask() = default;
  constexpr explicit IndexMask(Word bits) : bits_(bits) {}

  // One index; of a false condition, none, without a branch.
  [[nodiscard]] static constexpr IndexMask of(unsigned index, bool condition = true) {
    return IndexMask{Word{condition} << index};
  }
  // The indices below `count`, which is less than the word has bits.
  [[nodiscard]] static constexpr IndexMask below(unsigned count) {
    return IndexMask{(Word{1} << count) - 1};
  }

  [[nodiscard]] constexpr Word bits() const { return bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr unsigned count() const {
    return static_cast<unsigned>(std::popcount(bits_));
  }
  [[nodiscard]] constexpr bool has(unsigned index) const { return ((bits_ >> index) & 1) != 0; }

  // The lowest index of a mask that is not empty.
  [[nodiscard]] constexpr unsigned lowest() const {
    return static_cast<unsigned>(std::countr_zero(bits_));
  }
  // The lowest index up to `last`, or `last`; without a branch.
  [[nodiscard]] constexpr unsigned lowest_or(unsigned last) const {
    return static_cast<unsigned>(std::countr_zero(bits_ | (Word{1} << last)));
  }
  // Those from `first` on.
  [[nodiscard]] constexpr IndexMask from(unsigned first) const {
    return IndexMask{bits_ >> first << first};
  }

  [[nodiscard]] constexpr Iterator begin() const { return Iterator{bits_}; }
  [[nodiscard]] constexpr std::default_sentinel_t end() const { return {}; }

  friend constexpr IndexMask operator|(IndexMask a, IndexMask b) {
    return IndexMask{a.bits_ | b.bits_};
  }
  friend constexpr IndexMask operator&(IndexMask a, IndexMask b) {
    return IndexMask{a.bits_ & b.bits_};
  }
  // Those of `a` that `b` has not.
  friend constexpr IndexMask operator-(IndexMask a, IndexMask b) {
    return IndexMask{a.bits_ & ~b.bits_};
  }
  constexpr IndexMask& operator|=(IndexMask other) { return *this = *this | other; }
  friend constexpr bool operator==(IndexMask, IndexMask) = default;

 private:
  Word bits_;
};

}  // namespace roost
