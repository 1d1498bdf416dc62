// Memory that one thread changes while others read it: words of 64 bits, each always read and
// stored as a whole.
//
// The bytes have other types too (a bucket's line has fields), which std::atomic_ref has no way to
// say; so these are the compilers' operations that it is made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "roost/isa/pause.h"
#include "roost/table/bucket_line.h"

namespace roost {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

// The operations on one word, whatever else its bytes are.
struct AtomicWords {
  using Any [[gnu::may_alias]] = uint64_t;

  [[nodiscard]] static uint64_t load(const uint64_t* word) {
    return __atomic_load_n(static_cast<const Any*>(word), __ATOMIC_ACQUIRE);
  }
  static void store(uint64_t* word, uint64_t value) {
    __atomic_store_n(static_cast<Any*>(word), value, __ATOMIC_RELEASE);
  }
  // Stores `value` if the word is `expected`.
  static bool replace(uint64_t* word, uint64_t expected, uint64_t value) {
    return __atomic_compare_exchange_n(static_cast<Any*>(word), &expected, value, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }

  // Between attempts, longer and longer: a thread that the system has put to sleep needs the
  // processor.
  static void wait(unsigned attempt) {
    if (attempt > 16) {
      std::this_thread::yield();
      return;
    }
    for (unsigned i = 0; i < 1U << std::min(attempt, 6U); ++i) pause_processor();
  }
};

// Whether timers are in a word of a line.
template <class Line>
[[nodiscard]] constexpr bool has_timers(size_t word) {
  if constexpr (KeepsTimers<Line>) {
    constexpr size_t kBegin = offsetof(Line, timers);
    constexpr size_t kEnd = kBegin + sizeof(Line::timers);
    return word >= kBegin / sizeof(uint64_t) && word * sizeof(uint64_t) < kEnd;
  } else {
    return false;
  }
}

// Makes a word change(what it is); others may store it meanwhile. Returns what it was.
template <class Words, class Change>
uint64_t change_word(uint64_t* word, Change&& change) {
  for (;;) {
    const uint64_t seen = Words::load(word);
    if (Words::replace(word, seen, change(seen))) return seen;
  }
}

inline constexpr size_t kWordsOfALine = 64 / sizeof(uint64_t);

// The words of a line, or of other memory that readers may read.
[[nodiscard]] inline const uint64_t* words_at(const void* start) {
  return static_cast<const uint64_t*>(start);
}
[[nodiscard]] inline uint64_t* words_at(void* start) { return static_cast<uint64_t*>(start); }

namespace detail {

// A word of private memory.
[[nodiscard]] inline uint64_t private_word(const void* start, size_t number) {
  uint64_t word;
  std::memcpy(&word, static_cast<const std::byte*>(start) + number * sizeof(word), sizeof(word));
  return word;
}

}  // namespace detail

// Copies those of a line's words that are in the range; the others are not written.
template <class Words, class Line>
[[nodiscard, gnu::always_inline]] inline Line copy_of(const Line& line, size_t first = 0,
                                                      size_t end = kWordsOfALine) {
  Line copy;
  for (size_t i = first; i < end; ++i) {
    const uint64_t word = Words::load(words_at(&line) + i);
    std::memcpy(reinterpret_cast<std::byte*>(&copy) + i * sizeof(word), &word, sizeof(word));
  }
  return copy;
}

// Up to eight bytes of a line, lowest first, without a branch.
template <class Words, class Line>
[[nodiscard, gnu::always_inline]] inline uint64_t bytes_of(const Line& line, size_t offset,
                                                           size_t bytes) {
  const uint64_t* words = words_at(&line);
  const size_t first = offset / sizeof(uint64_t);
  const size_t bits = offset % sizeof(uint64_t) * 8;
  const uint64_t low = Words::load(words + first) >> bits;
  const uint64_t high = Words::load(words + std::min(first + 1, kWordsOfALine - 1));
  return (low | high << 1 << (63 - bits)) & (~uint64_t{0} >> (64 - 8 * bytes));
}

// Stores those words of a line in which `after` differs from `before`. In words that readers may
// store too, because timers are there, only the bits that differ.
template <class Words, class Line>
void store_changes(Line& line, const Line& before, const Line& after) {
  for (size_t i = 0; i < kWordsOfALine; ++i) {
    uint64_t* word = words_at(&line) + i;
    const uint64_t old = detail::private_word(&before, i);
    const uint64_t changed = detail::private_word(&after, i);
    if (changed == old) continue;
    if (has_timers<Line>(i)) {
      change_word<Words>(word, [=](uint64_t now) {
        return (now & ~(old ^ changed)) | (changed & (old ^ changed));
      });
    } else {
      Words::store(word, changed);
    }
  }
}

// Copies bytes between private memory and shared words; there, room up to a multiple of eight
// follows the last one.
template <class Words>
void write_words(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, from + offset, std::min(sizeof(word), bytes - offset));
    Words::store(words_at(to + offset), word);
  }
}
template <class Words>
void read_words(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
    const uint64_t word = Words::load(words_at(from + offset));
    std::memcpy(to + offset, &word, std::min(sizeof(word), bytes - offset));
  }
}

}  // namespace roost
