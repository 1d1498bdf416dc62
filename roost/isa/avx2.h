// The AVX2 kernel: the same registers as SSE4.2's, for a bucket fills one of 128 bits; what it
// gains is three-operand instructions and the shifts of BMI2 in everything that is inlined around
// it, and a whole group's bytes in one register.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "roost/isa/kernel.h"
#include "roost/isa/sse42.h"

namespace roost {

struct Avx2Kernel : Sse42Kernel {
  static constexpr Isa kIsa = Isa::kAvx2;

  [[gnu::target("avx2")]] static uint32_t nonzero_bytes(const uint8_t* bytes) {
    const __m256i block =
        _mm256_load_si256(static_cast<const __m256i*>(static_cast<const void*>(bytes)));
    return ~static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_setzero_si256())));
  }
};

static_assert(Kernel<Avx2Kernel>);

}  // namespace roost

#endif
