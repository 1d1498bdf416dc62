// One bit a lane of a batch, in 64-bit words: bit i % 64 of word i / 64 belongs to lane i.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "roost/base/assert.h"

namespace roost {

// Number of hit words that a batch of `lane_count` lanes needs.
[[nodiscard]] constexpr size_t hit_word_count(size_t lane_count) { return (lane_count + 63) / 64; }

// Borrowed hit words of a batch. A batch operation writes every word that holds a lane of the
// batch; bits past the last lane become zero.
class HitWords {
 public:
  constexpr explicit HitWords(std::span<uint64_t> words) : words_(words) {}

  [[nodiscard]] constexpr std::span<uint64_t> words() const { return words_; }

  [[nodiscard]] constexpr bool test(size_t lane) const {
    return ((words_[lane / 64] >> (lane % 64)) & 1) != 0;
  }
  constexpr void set(size_t lane) { words_[lane / 64] |= uint64_t{1} << (lane % 64); }

  // Writes the lanes of a group of 32: bit i of `bits` is lane first_lane + i. Groups are written
  // in rising order; the first of a word's two groups clears the other.
  constexpr void write_group(size_t first_lane, uint32_t bits) {
    if (first_lane % 64 == 0) {
      words_[first_lane / 64] = bits;
    } else {
      words_[first_lane / 64] |= uint64_t{bits} << 32;
    }
  }

  // Zeroes the words of a batch of `lane_count` lanes; they must be there.
  constexpr void clear(size_t lane_count) {
    ROOST_ASSERT(hold(lane_count));
    for (size_t word = 0; word < hit_word_count(lane_count); ++word) words_[word] = 0;
  }

  // Whether there are words enough for a batch of `lane_count` lanes.
  [[nodiscard]] constexpr bool hold(size_t lane_count) const {
    return words_.size() >= hit_word_count(lane_count);
  }

  // Number of lanes that hit in a batch of `lane_count` lanes.
  [[nodiscard]] constexpr size_t count(size_t lane_count) const {
    size_t hits = 0;
    for (size_t word = 0; word < hit_word_count(lane_count); ++word) {
      hits += static_cast<size_t>(std::popcount(words_[word]));
    }
    return hits;
  }

 private:
  std::span<uint64_t> words_;
};

// Hit words that own their memory, for batches whose largest size is known.
template <size_t kLanesMax>
class HitArray {
 public:
  operator HitWords() { return HitWords(words_); }
  [[nodiscard]] constexpr bool test(size_t lane) const {
    return ((words_[lane / 64] >> (lane % 64)) & 1) != 0;
  }

 private:
  std::array<uint64_t, hit_word_count(kLanesMax)> words_{};
};

}  // namespace roost
