// The scalar kernel: the definition of what every other kernel must answer.
#pragma once

#include <cstring>

#include "roost/isa/kernel.h"

namespace roost {

struct ScalarKernel {
  static constexpr Isa kIsa = Isa::kScalar;

  static uint8_t match_tags(const uint16_t* eight, uint16_t value) {
    unsigned mask = 0;
    for (unsigned i = 0; i < 8; ++i) mask |= static_cast<unsigned>(eight[i] == value) << i;
    return static_cast<uint8_t>(mask);
  }

  static uint8_t match_live(const uint16_t* eight, uint16_t value) {
    unsigned mask = 0;
    for (unsigned i = 0; i < 8; ++i) {
      uint16_t timer = 0;
      std::memcpy(&timer, eight + i, sizeof(timer));  // some layouts have other bytes beside them
      const auto ahead = static_cast<uint16_t>(timer - value);
      mask |= static_cast<unsigned>(ahead < kLiveTicks) << i;
    }
    return static_cast<uint8_t>(mask);
  }

  static uint8_t match_live_tags(const uint16_t* tags, uint16_t tag, const uint16_t* timers,
                                 uint16_t now) {
    return match_tags(tags, tag) & match_live(timers, now);
  }

  static uint8_t match_words(const uint64_t* words, uint64_t word) {
    unsigned mask = 0;
    for (unsigned i = 0; i < 8; ++i)
      mask |= static_cast<unsigned>((words[i] ^ word) << 16 == 0) << i;
    return static_cast<uint8_t>(mask);
  }

  // Left to itself, clang 16 calls it, in the middle of a lookup.
  [[gnu::always_inline]] static uint32_t nonzero_bytes(const uint8_t* bytes) {
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes |= static_cast<uint32_t>(bytes[lane] != 0) << lane;
    return lanes;
  }

  template <size_t kBytes>
  static bool equal_keys(const void* a, const void* b) {
    static_assert(kBytes % 8 == 0, "padded keys are whole 64-bit words");
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    uint64_t difference = 0;
    for (size_t offset = 0; offset < kBytes; offset += 8) {
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, left + offset, 8);
      std::memcpy(&y, right + offset, 8);
      difference |= x ^ y;
    }
    return difference == 0;
  }

  template <unsigned kCount, size_t kBytes>
  static unsigned match_keys(const void* keys, size_t key_bytes, const void* key) {
    static_assert(kBytes == 8 || kBytes == 16, "one register");
    const size_t shift = 8 * (kBytes - key_bytes);  // drops what is not the key's
    unsigned mask = 0;
    for (unsigned i = 0; i < kCount; ++i) {
      const auto* at = static_cast<const unsigned char*>(keys) + i * key_bytes;
      uint64_t difference = difference_of_words(at, key);
      if constexpr (kBytes == 16) {
        const uint64_t first = difference;
        difference = difference_of_words(at + 8, static_cast<const unsigned char*>(key) + 8);
        difference = (difference << shift) | first;
      } else {
        difference <<= shift;
      }
      mask |= static_cast<unsigned>(difference == 0) << i;
    }
    return mask;
  }

 private:
  static uint64_t difference_of_words(const void* a, const void* b) {
    uint64_t x = 0;
    uint64_t y = 0;
    std::memcpy(&x, a, 8);
    std::memcpy(&y, b, 8);
    return x ^ y;
  }
};

static_assert(Kernel<ScalarKernel>);

}  // namespace roost
