// A line of a line map as its builder changes it: a copy, which is stored when it is whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/compact/bit_fields.h"
#include "roost/compact/line_layout.h"
#include "roost/concurrent/atomic_words.h"

namespace roost::compact {

class LineDraft {
 public:
  using Words = std::array<uint64_t, kLineBytes / sizeof(uint64_t)>;

  // A line without keys.
  explicit LineDraft(const LineGeometry& geometry) : geometry_(&geometry) {
    for (uint32_t slot = 0; slot < geometry.slots; ++slot) clear_slot(slot);
  }
  // A line as it is.
  LineDraft(const LineGeometry& geometry, const std::byte* line) : geometry_(&geometry) {
    std::memcpy(words_.data(), line, sizeof words_);
  }

  void set_seed(uint32_t group, uint8_t seed) {
    bytes()[LineShape::kSeedsAt + group] = static_cast<std::byte>(seed);
  }
  // `word`: value and fingerprint.
  void set_slot(uint32_t slot, uint64_t word) {
    store_bits(bytes(), geometry_->bit_of(slot), geometry_->slot_bits, word);
  }
  void clear_slot(uint32_t slot) { set_slot(slot, geometry_->absent); }

  [[nodiscard]] const Words& words() const { return words_; }
  // A line's bytes, for one that nobody reads yet.
  void write(std::byte* line) const { std::memcpy(line, words_.data(), sizeof words_); }

  // Stores it for those who read the line meanwhile. What changes one word and no seed is one
  // store; else the version is odd while words change, which is one step. `beside` stores what else
  // belongs to the step, if anything does.
  template <class Stores>
  void store(std::byte* line) const {
    store<Stores>(line, false, [] {});
  }
  template <class Stores, class Beside>
  void store(std::byte* line, bool has_more, Beside&& beside) const {
    uint64_t* const there = words_at(line);
    Words before;
    std::memcpy(before.data(), line, sizeof before);
    size_t changed = 0;
    size_t last = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (before[i] == words_[i]) continue;
      ++changed;
      last = i;
    }
    if (changed == 0 && !has_more) return;
    if (changed == 1 && !has_more && !changes_seeds(before)) {
      Stores::store(there + last, words_[last]);
      return;
    }
    store_step<Stores>(there, before, beside);
  }

 private:
  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }
  [[nodiscard]] bool changes_seeds(const Words& before) const {
    return std::memcmp(reinterpret_cast<const std::byte*>(before.data()) + LineShape::kSeedsAt,
                       reinterpret_cast<const std::byte*>(words_.data()) + LineShape::kSeedsAt,
                       geometry_->groups) != 0;
  }
  // The version is in the first word, with some of the seeds.
  template <class Stores, class Beside>
  void store_step(uint64_t* there, const Words& before, Beside&& beside) const {
    constexpr uint64_t kVersion = UINT32_MAX;
    const auto version = static_cast<uint32_t>(before[0]);
    Stores::store(there, (before[0] & ~kVersion) | uint32_t{version + 1});
    beside();
    for (size_t i = 1; i < words_.size(); ++i)
      if (before[i] != words_[i]) Stores::store(there + i, words_[i]);
    Stores::store(there, (words_[0] & ~kVersion) | uint32_t{version + 2});
  }

  const LineGeometry* geometry_;
  Words words_{};
};

}  // namespace roost::compact
