// The SSE4.2 kernel: a bucket's eight tags or eight timers are one 128-bit register (CPP-16).
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "roost/isa/kernel.h"
#include "roost/isa/scalar.h"

namespace roost {

struct Sse42Kernel {
  static constexpr Isa kIsa = Isa::kSse42;

  [[gnu::target("sse4.2")]] static uint8_t match_tags(const uint16_t* eight, uint16_t value) {
    return one_bit_a_lane(equal_lanes(eight, value));
  }

  [[gnu::target("sse4.2")]] static uint8_t match_live(const uint16_t* eight, uint16_t value) {
    return one_bit_a_lane(live_lanes(eight, value));
  }

  [[gnu::target("sse4.2")]] static uint8_t match_live_tags(const uint16_t* tags, uint16_t tag,
                                                           const uint16_t* timers, uint16_t now) {
    return one_bit_a_lane(_mm_and_si128(equal_lanes(tags, tag), live_lanes(timers, now)));
  }

  [[gnu::target("sse4.2")]] static uint8_t match_words(const uint64_t* words, uint64_t word) {
    const __m128i wanted = _mm_set1_epi64x(static_cast<int64_t>(word << 16));
    return static_cast<uint8_t>(two_words(words, wanted) | two_words(words + 2, wanted) << 2 |
                                two_words(words + 4, wanted) << 4 |
                                two_words(words + 6, wanted) << 6);
  }

  [[gnu::target("sse4.2")]] static uint32_t nonzero_bytes(const uint8_t* bytes) {
    return ~(zero_bytes(bytes) | zero_bytes(bytes + 16) << 16);
  }

  template <size_t kBytes>
  [[gnu::target("sse4.2")]] static bool equal_keys(const void* a, const void* b) {
    static_assert(kBytes % 8 == 0, "padded keys are whole 64-bit words");
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    __m128i difference = _mm_setzero_si128();
    size_t offset = 0;
    for (; offset + 16 <= kBytes; offset += 16) {
      difference =
          _mm_or_si128(difference, _mm_xor_si128(load16(left + offset), load16(right + offset)));
    }
    if (offset < kBytes) {
      difference =
          _mm_or_si128(difference, _mm_xor_si128(load8(left + offset), load8(right + offset)));
    }
    return _mm_testz_si128(difference, difference) != 0;
  }

  template <unsigned kCount, size_t kBytes>
  [[gnu::target("sse4.2")]] static unsigned match_keys(const void* keys, size_t key_bytes,
                                                       const void* key) {
    if constexpr (kBytes == 8) {
      return ScalarKernel::match_keys<kCount, kBytes>(keys, key_bytes, key);
    } else {
      static_assert(kBytes == 16, "one register");
      const __m128i wanted = load16(static_cast<const unsigned char*>(key));
      const unsigned places = (1U << key_bytes) - 1;
      unsigned mask = 0;
      for (unsigned i = 0; i < kCount; ++i) {
        const __m128i found = load16(static_cast<const unsigned char*>(keys) + i * key_bytes);
        const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(found, wanted)));
        mask |= static_cast<unsigned>((~equal & places) == 0) << i;
      }
      return mask;
    }
  }

 private:
  // Bits 0 and 1 are set where two aligned words, shifted left by 16, are `wanted`.
  [[gnu::target("sse4.2")]] static unsigned two_words(const uint64_t* words, __m128i wanted) {
    const __m128i two =
        _mm_load_si128(static_cast<const __m128i*>(static_cast<const void*>(words)));
    const __m128i equal = _mm_cmpeq_epi64(_mm_slli_epi64(two, 16), wanted);
    return static_cast<unsigned>(_mm_movemask_pd(_mm_castsi128_pd(equal)));
  }
  [[gnu::target("sse4.2")]] static __m128i load_aligned(const uint16_t* eight) {
    return _mm_load_si128(static_cast<const __m128i*>(static_cast<const void*>(eight)));
  }
  // Bit i is set where sixteen[i] == 0.
  [[gnu::target("sse4.2")]] static uint32_t zero_bytes(const uint8_t* sixteen) {
    const __m128i block =
        _mm_load_si128(static_cast<const __m128i*>(static_cast<const void*>(sixteen)));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_setzero_si128())));
  }
  [[gnu::target("sse4.2")]] static __m128i load16(const unsigned char* bytes) {
    return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(bytes)));
  }
  [[gnu::target("sse4.2")]] static __m128i load8(const unsigned char* bytes) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(static_cast<const void*>(bytes)));
  }
  // Lanes of all ones where match_tags, or match_live, has a bit.
  [[gnu::target("sse4.2")]] static __m128i equal_lanes(const uint16_t* eight, uint16_t value) {
    return _mm_cmpeq_epi16(load_aligned(eight), _mm_set1_epi16(static_cast<int16_t>(value)));
  }
  // Unsigned "below 1,024" is signed "below -31,744" with all values moved down by 32,768.
  [[gnu::target("sse4.2")]] static __m128i live_lanes(const uint16_t* eight, uint16_t value) {
    constexpr int16_t kLowest = INT16_MIN;
    const __m128i ahead =
        _mm_sub_epi16(load_aligned(eight), _mm_set1_epi16(static_cast<int16_t>(value + kLowest)));
    return _mm_cmpgt_epi16(_mm_set1_epi16(kLowest + int16_t{kLiveTicks}), ahead);
  }
  // Eight 16-bit lanes of all ones or all zeroes to eight bits.
  [[gnu::target("sse4.2")]] static uint8_t one_bit_a_lane(__m128i lanes) {
    return static_cast<uint8_t>(_mm_movemask_epi8(_mm_packs_epi16(lanes, _mm_setzero_si128())));
  }
};

static_assert(Kernel<Sse42Kernel>);

}  // namespace roost

#endif
