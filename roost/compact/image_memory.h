// How a reader loads an image's bytes, which nobody changes, or one builder does meanwhile
// (docs/decisions/0048-value-only-tables-shared.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roost/concurrent/one_writer.h"

namespace roost::compact {

inline constexpr size_t kLineBytes = 64;

// Images of files, and the builder's own look at what it has written.
struct StillImage {
  static constexpr bool kIsShared = false;

  // Of buckets that have none of their own.
  struct Versions {
    template <class Read>
    bool is_in(BucketIndex /*bucket*/, Read&& read) const {
      return read();
    }
  };

  // Eight bytes from anywhere.
  [[nodiscard]] static uint64_t load(const std::byte* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  [[nodiscard]] static uint64_t load_aligned(const std::byte* at) { return load(at); }
  [[nodiscard]] static uint8_t byte_of_line(const std::byte* line, size_t byte) {
    return static_cast<uint8_t>(line[byte]);
  }
  // At least so many bits of a line from that bit on; they end behind its first eight bytes. The
  // word that is loaded ends where they do, so that it never leaves the line.
  [[nodiscard]] static uint64_t bits_of_line(const std::byte* line, size_t first_bit, size_t bits) {
    const size_t byte = (first_bit + bits + 7) / 8 - sizeof(uint64_t);
    return load(line + byte) >> (first_bit - 8 * byte);
  }
  static void wait(unsigned /*attempt*/) {}
};

// Every word is loaded as a whole; what of several words belongs together, versions say. Images
// begin at multiples of eight bytes, and eight more than asked for may be read behind them.
template <class Words>
struct BasicSharedImage {
  static constexpr bool kIsShared = true;
  using Versions = VersionedAccess<Words>;

  [[nodiscard]] static uint64_t load(const std::byte* at) {
    const size_t byte = reinterpret_cast<uintptr_t>(at) % sizeof(uint64_t);
    const uint64_t* const words = words_at(at - byte);
    return joined(Words::load(words), Words::load(words + 1), 8 * byte);
  }
  [[nodiscard]] static uint64_t load_aligned(const std::byte* at) {
    return Words::load(words_at(at));
  }
  [[nodiscard]] static uint8_t byte_of_line(const std::byte* line, size_t byte) {
    const size_t first_bit = 8 * byte;
    const uint64_t word = Words::load(words_at(line) + first_bit / 64);
    return static_cast<uint8_t>(word >> (first_bit % 64));
  }
  [[nodiscard]] static uint64_t bits_of_line(const std::byte* line, size_t first_bit,
                                             size_t /*bits*/) {
    const uint64_t* const words = words_at(line);
    const size_t first = first_bit / 64;
    return joined(Words::load(words + first),
                  Words::load(words + std::min(first + 1, kWordsOfALine - 1)), first_bit % 64);
  }
  static void wait(unsigned attempt) { Words::wait(attempt); }

 private:
  [[nodiscard]] static uint64_t joined(uint64_t low, uint64_t high, size_t first_bit) {
    return low >> first_bit | high << 1 << (63 - first_bit);
  }
};
using SharedImage = BasicSharedImage<AtomicWords>;

// Stores a number of at most 64 bits into shared words: those that it has a part in, one after the
// other. Nobody else stores there.
template <class Words>
void store_shared_bits(std::byte* bytes, size_t first_bit, unsigned bits, uint64_t number) {
  const size_t byte = reinterpret_cast<uintptr_t>(bytes) % sizeof(uint64_t);
  uint64_t* word = words_at(bytes - byte) + (8 * byte + first_bit) / 64;
  const auto shift = static_cast<unsigned>((8 * byte + first_bit) % 64);
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  const auto replace = [](uint64_t* at, uint64_t changed, uint64_t by) {
    Words::store(at, (Words::load(at) & ~changed) | (by & changed));
  };
  replace(word, mask << shift, number << shift);
  if (shift + bits > 64) replace(word + 1, mask >> (64 - shift), number >> (64 - shift));
}

}  // namespace roost::compact
