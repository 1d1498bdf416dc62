// The AVX2 kernel: the same registers as SSE4.2's, for a bucket fills one of 128 bits; what it
// gains is three-operand instructions and the shifts of BMI2 in everything that is inlined around
// it, a whole group's bytes in one register, and four words of a line in one.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "roost/isa/kernel.h"
#include "roost/isa/sse42.h"

namespace roost {

struct Avx2Kernel : Sse42Kernel {
  static constexpr Isa kIsa = Isa::kAvx2;

  [[gnu::target("avx2")]] static uint8_t match_words(const uint64_t* words, uint64_t word) {
    const __m256i wanted = _mm256_set1_epi64x(static_cast<int64_t>(word << 16));
    return static_cast<uint8_t>(four_words(words, wanted) | four_words(words + 4, wanted) << 4);
  }

  [[gnu::target("avx2")]] static uint32_t nonzero_bytes(const uint8_t* bytes) {
    const __m256i block =
        _mm256_load_si256(static_cast<const __m256i*>(static_cast<const void*>(bytes)));
    return ~static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_setzero_si256())));
  }

 private:
  // A bit a word is set where four aligned words, shifted left by 16, are `wanted`.
  [[gnu::target("avx2")]] static unsigned four_words(const uint64_t* words, __m256i wanted) {
    const __m256i four =
        _mm256_load_si256(static_cast<const __m256i*>(static_cast<const void*>(words)));
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_slli_epi64(four, 16), wanted);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  }
};

static_assert(Kernel<Avx2Kernel>);

}  // namespace roost

#endif
