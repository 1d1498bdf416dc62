// Bytes as words, for what is read or stored by words of 64 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace roost {

// Calls visit(offset, bytes) with each eight of so many bytes, or fewer at the end. The first ones
// without a loop: compilers leave a loop of two or three rounds, with its counter and its values in
// memory.
template <class Visit>
[[gnu::always_inline]] inline void for_each_word(size_t byte_count, Visit&& visit) {
  constexpr size_t kWord = sizeof(uint64_t);
  const auto visit_at = [&](size_t offset) __attribute__((always_inline)) {
    visit(offset, std::min(kWord, byte_count - offset));
  };
  if (byte_count > 0) visit_at(0);
  if (byte_count > kWord) visit_at(kWord);
  if (byte_count > 2 * kWord) visit_at(2 * kWord);
  if (byte_count > 3 * kWord) visit_at(3 * kWord);
  for (size_t offset = 4 * kWord; offset < byte_count; offset += kWord) visit_at(offset);
}

// Eight bytes, lowest first: of a padded key, of which there are so many.
[[nodiscard]] inline uint64_t word_from(const std::byte* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// A value as words, of which the last one may be filled up: what a reader of a shared table has.
struct ValueWords {
  const uint64_t* words;

  void copy_to(void* to, size_t byte_count) const {
    for_each_word(byte_count, [&](size_t offset, size_t bytes) {
      std::memcpy(static_cast<std::byte*>(to) + offset, &words[offset / sizeof(uint64_t)], bytes);
    });
  }
};

}  // namespace roost
